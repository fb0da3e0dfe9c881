"""The first tables: workspace, inventory, plans, tokens, and the queue's own."""

from importlib.resources import files

from alembic import op

from foretell.store.queue import install_sql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables; the queue's own come from its library, as of this version."""
    connection = op.get_bind()
    connection.exec_driver_sql(
        files("foretell.store.migrations.versions").joinpath("0001_tables.sql").read_text("utf-8")
    )
    connection.exec_driver_sql(install_sql())
