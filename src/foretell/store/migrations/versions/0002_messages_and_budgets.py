"""Why a plan failed, what rules read of a kind, and rate budgets that all workers share."""

from importlib.resources import files

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add two columns and a table."""
    op.get_bind().exec_driver_sql(
        files("foretell.store.migrations.versions")
        .joinpath("0002_messages_and_budgets.sql")
        .read_text("utf-8")
    )
