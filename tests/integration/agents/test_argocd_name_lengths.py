"""Whatever a chart does to its release's name, the plan of an unchanged chart is empty."""

from typing import Any

from argocd_world import a_source, a_world, chart, config_map, deployed, manifest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretell.testing.argocd import RenderInputs, an_application

CUTS = (20, 24, 53, 63)
NAMES = st.from_regex(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True)


def cutting(inputs: RenderInputs) -> list[dict[str, Any]]:
    """As charts' helpers do: `printf "%s-config" fullname | trunc 63 | trimSuffix "-"`."""
    things = []
    for cut in CUTS:
        full = inputs.name if "shop" in inputs.name else f"{inputs.name}-shop"
        name = f"{full[:cut].rstrip('-')}-config"[:cut].rstrip("-")
        thing = config_map(f"{name}-{cut}", release=inputs.name, length=str(len(inputs.name)))
        thing["metadata"]["labels"] = {"app.kubernetes.io/instance": name[:63]}
        things.append(thing)
    return things


async def _changes(name: str, *, by_label: bool, several: bool) -> bool | None:
    async with a_world() as world:
        world.argocd.repo_server.by_label = by_label
        template = await deployed(world, chart(cutting), name=name)
        if several:
            del world.argocd.applications[name]
            sources = [a_source(), a_source(ref="again")]
            await world.argocd.deploy(an_application(name, *sources))
            heads = [{**source, "targetRevision": "head"} for source in sources]
            template = an_application(name, *heads)
        done = await world.plan(template)
        assert len(world.created) == (2 if several else 1)
        assert "temporary" not in done.message
        assert manifest(done).proposed.count("kind: ConfigMap") == len(CUTS)
        return manifest(done).has_changes


@settings(max_examples=12, deadline=None)
@given(NAMES, st.booleans(), st.booleans())
async def test_no_name_leaks_into_what_any_chart_makes_of_it(
    name: str, by_label: bool, several: bool
) -> None:
    assert await _changes(name, by_label=by_label, several=several) is False


async def test_every_length_of_a_name_is_planned_without_a_change() -> None:
    async with a_world() as world:
        for length in range(1, 64):
            name = ("abcdefghijklmnopqrstuvwxyz" * 3)[:length]
            template = await deployed(world, chart(cutting), name=name)
            done = await world.plan(template, invocation=name)
            assert manifest(done).has_changes is False, name
            assert len(world.created[-1].body["metadata"]["name"]) <= 53
