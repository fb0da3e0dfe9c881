"""How a command ends with a code of its own."""


class Ending(Exception):
    """Ends the program with `code`; what there is to say was said."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
