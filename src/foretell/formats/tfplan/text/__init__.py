"""A redacted plan as text: in the program's own style, and side by side.

Nothing here hides anything: it must be given what `redacted.redact` returned, and says so.
"""
