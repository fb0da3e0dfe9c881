"""Helm is the oracle of how Kubernetes reads YAML: `fromYaml | toJson` on thousands of scalars."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from foretell.domain.errors import InvalidRequest
from foretell.formats.yaml import dump, load_documents

SEED = 20_04
HOW_MANY = 3_000
REFUSED = "<refused>"
MARKS = "ab :#-?,[]{}&*!|>'\"%@`=~\\/.é…\u200b"

CHART = "apiVersion: v2\nname: oracle\nversion: 0.0.1\n"
TEMPLATE = """\
{{- range .Files.Get "texts.json" | fromJsonArray }}
# {{ fromYaml . | toJson }}
{{- end }}
kind: Oracle
"""

Oracle = Callable[[Sequence[str]], list[Any]]


@pytest.fixture(params=["helm3", "helm4"])
def oracle(
    request: pytest.FixtureRequest, real_program: Callable[[str], Path], tmp_path: Path
) -> Oracle:
    """What this helm reads each text as, or REFUSED."""
    helm = real_program({"helm3": "helm3", "helm4": "helm4"}[request.param])

    def read(texts: Sequence[str]) -> list[Any]:
        (tmp_path / "templates").mkdir(exist_ok=True)
        (tmp_path / "Chart.yaml").write_text(CHART)
        (tmp_path / "templates" / "oracle.yaml").write_text(TEMPLATE)
        (tmp_path / "texts.json").write_text(json.dumps(texts))
        command = [str(helm), "template", "oracle", str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        lines = [line[2:] for line in done.stdout.split("\n") if line.startswith("# {")]
        answers = [json.loads(line) for line in lines]
        return [REFUSED if "Error" in answer else answer for answer in answers]

    return read


def ours(text: str) -> Any:
    try:
        documents = load_documents(text, source="text")
    except InvalidRequest:
        return REFUSED
    value = documents[0].value if documents else {}
    return value if isinstance(value, dict) else REFUSED  # fromYaml reads objects


def canonical(value: Any) -> str:
    return json.dumps(as_go(value), sort_keys=True)


def as_go(value: Any) -> Any:
    """Every number a float, as Go's JSON reads it into `any`; 1 is told from true by its type."""
    if isinstance(value, dict):
        return {key: as_go(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_go(item) for item in value]
    return float(value) if type(value) is int else value


def disagreements(texts: Sequence[str], mine: Sequence[Any], theirs: Sequence[Any]) -> list[str]:
    assert len(texts) == len(mine) == len(theirs)
    return [
        f"{text!r}: ours {one!r}, helm {other!r}"
        for text, one, other in zip(texts, mine, theirs, strict=True)
        if canonical(one) != canonical(other)
    ]


def scalars(random: Random) -> list[str]:
    """Numbers of every base and near misses, words and near misses, digests, dates, text."""
    words = "y yes true on n no false off null ~ nan inf .nan .inf -.inf <<".split()  # noqa: SIM905
    made = [
        lambda: "".join(random.choices("0123456789", k=random.randint(1, 22))),
        lambda: "".join(random.choices("0123456789abcdef", k=7)),
        lambda: "".join(random.choices("+-.0123456789eE_xob", k=random.randint(1, 7))),
        lambda: (
            f"{random.choice(['', '+', '-'])}0{random.choice('xXoObB_.')}"
            + "".join(random.choices("01_789af", k=random.randint(0, 5)))
        ),
        lambda: (
            f"{random.randint(-99, 99)}{random.choice(['e', 'E', 'e+', 'e-', ':', '.'])}"
            f"{random.randint(0, 400)}"
        ),
        lambda: "".join(random.choice([char, char.upper()]) for char in random.choice(words)),
        lambda: f"{random.randint(1, 2999)}-{random.randint(1, 12):02}-{random.randint(1, 31)}",
        lambda: f"{random.uniform(-1e9, 1e9)!r}",
        lambda: "".join(
            random.choices("ab :#-?,[]{}&*!|>'\"%@`=~\\/.é…\u200b", k=random.randint(1, 6))
        ),
    ]
    found = [random.choice(made)() for _ in range(HOW_MANY)]
    return [text for text in found if text[:1] not in "![{"]  # not scalars


def test_a_plain_scalar_is_read_as_helm_reads_it(oracle: Oracle) -> None:
    texts = [f"a: {plain}" for plain in scalars(Random(SEED))]
    assert disagreements(texts, [ours(text) for text in texts], oracle(texts)) == []


def test_a_plain_key_is_read_as_helm_reads_it(oracle: Oracle) -> None:
    texts = [f"{plain}: x" for plain in scalars(Random(SEED + 1))]
    assert disagreements(texts, [ours(text) for text in texts], oracle(texts)) == []


def test_helm_reads_back_what_we_write(oracle: Oracle) -> None:
    random = Random(SEED + 2)
    plain = scalars(random)
    lines = ["\n".join(random.choices([*plain, "", " ", "\t", "\u2028"], k=3)) for _ in range(500)]
    values: list[Any] = [{"a": [text], text: "x"} for text in [*plain, *lines]]
    values += [{"a": random.uniform(-1, 1) * 10.0 ** random.randint(-20, 20)} for _ in range(500)]
    written = [dump(value) for value in values]
    assert disagreements(written, values, oracle(written)) == []
