"""What an inventory says is no change, and which values it masks, in a chart's answer."""

import asyncio
from dataclasses import replace

import pytest

from foretell.agents.helm.answer import Answer, SideRender, Terms, answer
from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected
from foretell.domain.result import Action
from foretell.domain.target import CompareSettings, IgnoreEntry
from foretell.formats.kubernetes import CompareOptions
from foretell.inventory.ignore import told_options
from foretell.kit.redactor import Redactor

KEY = Key(b"k" * 32, "key-1")
CANARY = "c4n4ry-v4lue"
BEFORE = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {DB_PASSWORD: c4n4ry-v4lue-old, COLOUR: red}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 1}
"""
AFTER = BEFORE.replace("replicas: 1", "replicas: 2").replace("-old", "-new")
TERMS = Terms("shop", KEY)
REPLICAS = IgnoreEntry(pointers=("/spec/replicas",), kind="Deployment")


def asked(options: CompareOptions, after: str = AFTER) -> Answer:
    terms = replace(TERMS, options=options)
    return answer(SideRender(BEFORE), SideRender(after), Redactor(()), terms)


def test_nothing_is_hidden_unless_somebody_says_so() -> None:
    found = asked(CompareOptions())
    manifest = found.results[0]
    assert [change.action for change in manifest.resources] == [Action.MODIFY, Action.MODIFY]
    assert (manifest.suppressed, found.warnings) == (0, ())
    assert CANARY in manifest.proposed


@pytest.mark.parametrize(
    "entry", [REPLICAS, IgnoreEntry(names=("replicas",)), IgnoreEntry(jq=(".spec.replicas",))]
)
async def test_what_an_inventory_ignores_is_no_change_and_is_counted(entry: IgnoreEntry) -> None:
    only = BEFORE.replace("replicas: 1", "replicas: 2")
    async with told_options(CompareSettings(ignore=(entry,))) as (options, _):
        found = await asyncio.to_thread(asked, options, only)
    manifest = found.results[0]
    assert (manifest.has_changes, manifest.suppressed) == (False, 1)
    assert found.warnings == ("1 object with only suppressed changes",)


async def test_jq_that_is_none_is_an_error_with_its_place() -> None:
    wrong = CompareSettings((REPLICAS, IgnoreEntry(jq=(".a |",))))
    with pytest.raises(AgentRejected, match=r"plan\.ignore\[1\]\.jq\[0\]"):
        async with told_options(wrong):
            pass


async def test_jq_that_leads_nowhere_is_a_warning_with_its_place() -> None:
    nowhere = IgnoreEntry(jq=(".spec.containers[]",), kind="Deployment")
    async with told_options(CompareSettings((nowhere,))) as (options, rules):
        await asyncio.to_thread(asked, options)
        (warning,) = rules.warnings
    assert warning.startswith("plan.ignore[0].jq[0]: this jq selects nothing in 1 of its objects")
    assert "Deployment/shop/web" in warning


def test_values_of_a_name_are_masked_and_counted_and_still_change() -> None:
    found = asked(CompareOptions(mask_names=("*password*",)))
    manifest = found.results[0]
    assert CANARY not in repr(found)
    assert "COLOUR: red" in manifest.proposed
    assert len(manifest.resources) == 2
    assert "1 value masked by name" in found.warnings
