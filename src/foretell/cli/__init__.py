"""HOW PEOPLE GET IN from a terminal: one file a command, `app.py` is the program."""
