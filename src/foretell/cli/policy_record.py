"""Fixtures out of real plans: what a rule saw, masked, and what it says of it now."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from foretell.cli.policy_input import RealInput
from foretell.domain.errors import InvalidRequest
from foretell.domain.verdict import Rule, VerdictStatus
from foretell.formats.yaml import dump
from foretell.policy.workbench import Workbench


async def record(
    engine: Workbench, folder: Path, rules: Mapping[str, str], inputs: AsyncIterator[RealInput]
) -> list[Path]:
    """The files that were written: one for each of `rules` (texts by path) and each input.

    Raises InvalidRequest where a file is there already, and where a rule can't answer: what it
    does not say can't be expected of it.
    """
    written = []
    async for found in inputs:
        if found.trouble:
            raise InvalidRequest(f"{found.place}: {found.trouble}")
        for name, text in rules.items():
            path = folder / f"{name.removesuffix('.rego')}.{found.case}.yaml"
            if path.exists():
                raise InvalidRequest(f"{path} is there already: remove it to record it anew")
            path.write_text(await _example(engine, name, text, found), encoding="utf-8")
            written.append(path)
    return written


async def _example(engine: Workbench, name: str, text: str, found: RealInput) -> str:
    (verdict,) = await engine.evaluate([Rule("", name, text)], found.document)
    if verdict.status is VerdictStatus.ERRORED:
        raise InvalidRequest(f"{found.place}: {name} could not answer: {verdict.message}")
    said = {"input": dict(found.document), "deny": [one.message for one in verdict.denials]}
    return dump({**said, "warn": list(verdict.warnings)} if verdict.warnings else said)
