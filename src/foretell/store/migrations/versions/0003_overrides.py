"""Overrides of denials, and how many a plan has."""

from importlib.resources import files

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table; no plan of before has an override."""
    op.get_bind().exec_driver_sql(
        files("foretell.store.migrations.versions")
        .joinpath("0003_overrides.sql")
        .read_text("utf-8")
    )
