"""What goes wrong at one target is told there, stops no other, and tells no secret to anyone."""

import base64
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bad_charts import CANARY, CANARY_VARIABLE, helm_program, inventory, write_charts
from program import PLAN, Home, ask, fill, followed, home

ENCODED = base64.b64encode(CANARY.encode()).decode()
WRONG = {
    "broken": "missing value for if",
    "endless": "2 s",
    "failing": "wrong password",
    "large": "printed more than",
    "missing": "charts/nowhere",
    "elsewhere": "FORETELL_CHART_ROOTS",
    "revision": "nowhere",
    "undefined": "nowhere",
    "loop": "",
    "huge": "",
    "escape": "not allowed in a template",
}


@pytest.fixture(scope="module")
def charts_home() -> Iterator[Home]:
    """A server that may read the repository of bad charts, and knows a secret."""
    helm = helm_program()
    with home() as made, tempfile.TemporaryDirectory(prefix="foretell-charts-") as folder:
        repository = Path(folder).resolve()
        write_charts(repository)
        made.env = {
            CANARY_VARIABLE: CANARY,
            "FORETELL_HELM": str(helm),
            "FORETELL_CACHE_DIR": str(made.data / "cache"),
            "FORETELL_CHART_ROOTS": json.dumps([str(repository)]),
        }
        server = made.serve()
        fill(server, inventory(repository))
        yield made
        assert server.terminate() == 0


@pytest.fixture(scope="module")
def planned(charts_home: Home) -> dict[str, Any]:
    (server,) = charts_home.servers
    return followed(server, ask(server)["id"])


@pytest.fixture(scope="module")
def reasons(planned: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Each target's status and message, by its resource."""
    return {
        target["resourceIdentifier"]: (
            target["status"],
            " ".join(str(agent["message"] or "") for agent in target["agents"]),
        )
        for target in planned["targets"]
    }


def test_one_wrong_target_stops_no_other(reasons: dict[str, tuple[str, str]]) -> None:
    good = {name for name, (status, _) in reasons.items() if status == "completed"}
    assert good == {"fine", "leaky"}


@pytest.mark.parametrize(("name", "told"), WRONG.items())
def test_each_target_says_what_is_wrong(
    reasons: dict[str, tuple[str, str]], name: str, told: str
) -> None:
    status, message = reasons[name]
    assert status == "errored"
    assert message.strip()
    assert told in message


def test_a_secret_is_nowhere(charts_home: Home, planned: dict[str, Any]) -> None:
    (server,) = charts_home.servers
    with server.client() as client:
        answers = [client.get(f"{PLAN}/{planned['id']}").text]
        results = {
            change["resultId"]
            for target in planned["targets"]
            if target["diff"]
            for change in target["diff"]["resources"]
        }
        answers += [client.get(f"{PLAN}/{planned['id']}/results/{id}").text for id in results]
    assert len(results) > 1
    everything = [*answers, server.log.read_text(), server.output, dump(charts_home.dsn())]
    assert "postgresql://web:" in answers[0]
    for place, text in enumerate(everything):
        assert CANARY not in text, place
        assert ENCODED not in text, place


def dump(dsn: str) -> str:
    """Every row of every table, as text."""
    with psycopg.connect(dsn) as connection:
        tables = connection.execute(
            "SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        assert ("deployment_plan",) in tables
        return "\n".join(
            str(row)
            for (table,) in tables
            for row in connection.execute(f"SELECT t::text FROM {table} t".encode())
        )
