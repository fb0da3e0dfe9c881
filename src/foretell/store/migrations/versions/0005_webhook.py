"""Events of GitHub's and pull requests, and plans found by them."""

from importlib.resources import files

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables and the indexes."""
    folder = files("foretell.store.migrations.versions")
    op.get_bind().exec_driver_sql(folder.joinpath("0005_webhook.sql").read_text("utf-8"))
