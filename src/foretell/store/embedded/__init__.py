"""A private PostgreSQL for who sets no DSN: `EmbeddedPostgres` starts, shares and stops it."""

from foretell.store.embedded.server import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
