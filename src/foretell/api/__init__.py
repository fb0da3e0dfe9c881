"""HTTP IN: every call of docs/reference/api.md. What comes out is written by formats/document."""

from foretell.api.app import create_app
from foretell.api.services import Services

__all__ = ["Services", "create_app"]
