"""The statements: each is one the server knows, and each is used."""

import re
from pathlib import Path

import psycopg

import foretell.store
from foretell.store.queries import queries

PACKAGE = Path(foretell.store.__file__).parent
PARAMETER = re.compile(rb"%\((\w+)\)s")


def _numbered(text: bytes) -> bytes:
    """The statement with the server's own placeholders, `$1` and so on."""
    names = list(dict.fromkeys(PARAMETER.findall(text)))
    return PARAMETER.sub(lambda match: b"$%d" % (names.index(match[1]) + 1), text)


def test_the_server_can_plan_every_statement(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        for name, statement in queries().items():
            if not statement.text.startswith(b"COPY"):
                connection.execute(f"PREPARE {name}_ AS ".encode() + _numbered(statement.text))


def test_only_what_neither_writes_nor_locks_runs_outside_a_transaction(database: str) -> None:
    alone = {name for name, statement in queries().items() if not statement.in_transaction}
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = on")
        for name in alone - {"start"}:
            text = PARAMETER.sub(b"NULL", queries()[name].text)
            connection.execute(text)
    assert "start" in alone


def test_every_statement_is_used() -> None:
    sources = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    # One statement a part of the inventory, named by verb and table.
    tables = re.findall(r'InventoryKind\.\w+, \w+, "(\w+)"', sources)
    used = {f"{verb}_{table}" for verb in ("put", "delete") for table in tables}
    assert [name for name in queries() if f'"{name}"' not in sources and name not in used] == []
