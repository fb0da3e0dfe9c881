"""Where plans are shown on GitHub: threads, checks, and what was told last."""

from importlib.resources import files

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.get_bind().exec_driver_sql(
        files("foretell.store.migrations.versions").joinpath("0004_github.sql").read_text("utf-8")
    )
