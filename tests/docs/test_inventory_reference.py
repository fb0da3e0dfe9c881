"""The inventory in the reference is one that can be read, and its tables name every key."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from foretell.agents.argocd.config import ArgoCdConfig
from foretell.agents.helm.config import HelmConfig
from foretell.agents.test_runner.agent import Config
from foretell.inventory.load import parse
from foretell.inventory.load import schema as shapes

DOCS = Path(__file__).parents[2] / "docs"


def test_the_examples_can_be_read() -> None:
    text = (DOCS / "reference" / "inventory.md").read_text()
    examples = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(examples) >= 2
    for example in examples:
        assert len(parse({"example.yaml": example}).inventory.deployments) == 1


def keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize(
    ("document", "models"),
    [
        ("reference/inventory.md", [m for m in vars(shapes).values() if isinstance(m, type)]),
        ("agents/argo-cd.md", [ArgoCdConfig]),
        ("agents/helm.md", [HelmConfig]),
        ("agents/test-runner.md", [Config]),
    ],
)
def test_every_key_is_in_its_document(document: str, models: list[type]) -> None:
    text = (DOCS / document).read_text()
    wanted = [key for model in models if issubclass(model, BaseModel) for key in keys(model)]
    assert wanted
    assert [key for key in wanted if f"`{key}" not in text] == []
