"""What to do about what a system call or PostgreSQL said."""

from foretell.store.embedded.programs import ELSEWHERE

KNOWN = {
    "No space left": "The disk is full: free some space and start again",
    "Disk quota": "The disk quota is used up: free some space and start again",
    "Read-only file system": "The disk is read-only: choose a data folder that can be written to",
    "Operation not permitted": "Changing the user id is not allowed here: do not run as root",
    "Permission denied": "Choose a data folder that the user running this owns",
}


def advice(words: str) -> str:
    """One line for the person at the terminal."""
    hint = next((text for sign, text in KNOWN.items() if sign in words), "Its folder has the logs")
    return f"{hint}; or {ELSEWHERE}."
