import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from foretell.domain.errors import AgentRejected
from foretell.inventory import template as templating
from foretell.inventory.template import LIMITS, Templates
from foretell.testing.agents import a_side

PAGE = Path(__file__).parents[2] / "docs/reference/templates.md"
VARIABLES = {
    "release": {"name": "web", "version": {"tag": "1.10", "n": 3}},
    "resource": {"config": {"items": "kept", "a-b": [1, {"c": None}]}},
}


@pytest.fixture
async def templates() -> AsyncIterator[Templates]:
    async with Templates(size=1) as templates:
        yield templates


@pytest.fixture
async def impatient() -> AsyncIterator[Templates]:
    async with Templates(limits=replace(LIMITS, wall=timedelta(seconds=0.5)), size=1) as templates:
        yield templates


def rows(after: str) -> list[tuple[str, str]]:
    """The rows of the page's table whose second column is headed so."""
    table = PAGE.read_text().split(f"| template | {after} |")[1].split("\n\n")[0]
    found = re.findall(r"^\| `(.*)` \| `(.*)` \|$", table, re.MULTILINE)
    return [(left.replace(r"\|", "|"), right) for left, right in found]


def page_variables() -> Any:
    return json.loads(PAGE.read_text().split("```json")[1].split("```")[0])


async def test_the_page_shows_what_happens(templates: Templates) -> None:
    assert len(rows("value")) >= 10
    for template, value in rows("value"):
        assert await templates.render(template, page_variables()) == json.loads(value), template


async def test_the_page_shows_the_errors_that_come(templates: Templates) -> None:
    assert len(rows("error")) >= 4
    for template, message in rows("error"):
        with pytest.raises(AgentRejected, match=re.escape(message)):
            await templates.render(template, page_variables(), where="values.image.tag")


async def test_only_strings_are_rendered_and_keys_never(templates: Templates) -> None:
    value = {
        "{{ key }}": 1,
        "a": ["{{ release.name }}", {"b": "x-{{ release.version.n }}"}, None, True, 1.5],
        "t": ("{{ release.version.n }}",),
        "plain": "no template } }}",
    }
    assert await templates.render(MappingProxyType(value), VARIABLES) == {
        "{{ key }}": 1,
        "a": ["web", {"b": "x-3"}, None, True, 1.5],
        "t": [3],
        "plain": "no template } }}",
    }


async def test_what_holds_no_template_never_reaches_a_child() -> None:
    templates = Templates(limits=replace(LIMITS, wall=timedelta(0)))
    value = {"a": ["x", 1, None]}
    assert await templates.render(value, VARIABLES) is value


async def test_a_version_that_looks_like_a_number_stays_text(templates: Templates) -> None:
    assert await templates.render("{{ .release.version.tag }}", VARIABLES) == "1.10"
    assert await templates.render_text("{{ release.version.n }}", VARIABLES) == "3"
    assert await templates.render("{{ resource.config['a-b'] }}", VARIABLES) == [1, {"c": None}]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ .release.name }}", "web"),
        ("{{- .release.name -}}", "web"),
        ("{{ [.release.name, .release.version.n] }}", ["web", 3]),
        ("{{ (.release.version.n) + 1 }}", 4),
        ("{{ release['version'].n }}{{ 1.5 }}", "31.5"),
        ("{{ nope | default(.release.name) }}", "web"),
        ("{% if not .release.nope is defined and .release.name %}y{% endif %}", "y"),
        ("{% set x = .release.name %}{{ x }}", "web"),
        ("{{ 'x' if .release.name else .release.version }}", "x"),
        ("{{ .release.name | upper }} .release.name", "WEB .release.name"),
    ],
)
async def test_a_go_path_is_understood_wherever_an_operand_begins(
    templates: Templates, template: str, expected: object
) -> None:
    assert await templates.render(template, VARIABLES) == expected


@pytest.mark.parametrize("template", ["{{ . }}", "{{ .5 }}", "{{ 1 + .5 }}", "{{ release..name }}"])
async def test_a_dot_that_begins_no_path_is_an_error(templates: Templates, template: str) -> None:
    with pytest.raises(AgentRejected, match="templates are Jinja"):
        await templates.render(template, VARIABLES)


async def test_an_error_names_the_place_of_the_template(templates: Templates) -> None:
    value = {"image": {"tag": ["ok {{ release.name }}", "{{ nope }}"], "a.b": "{{ release.nope }}"}}
    with pytest.raises(AgentRejected, match=r"values\.image\.tag\[1\]: 'nope' is not defined"):
        await templates.render(value, VARIABLES, where="values")
    del value["image"]["tag"]
    with pytest.raises(AgentRejected, match=r'image\["a\.b"\]: there is no key \'nope\''):
        await templates.render(value, VARIABLES)


async def test_an_error_shows_names_but_never_a_value(templates: Templates) -> None:
    secret = {"db": {"password": "canary"}, "port": "canary"}
    for template in (
        "{{ db.pass }}", "{{ db.password.x }}", "{{ nope }}", "{{ port + 1 }}", "{{ port() }}",
        "{{ port | round }}", "{{ [].index(port) }}", "{{ {}[port] }}", "{{ db[port] }}",
        "{{ '%d' % port }}", "{{ 'x'[port] }}", "{{ port | attr(1) }}", "{{ '{x}'.format(port) }}",
        "{% for a, b in [port] %}{% endfor %}", "{{ port | sort(0, 0, 9) }}",
    ):  # fmt: skip
        with pytest.raises(AgentRejected) as caught:
            await templates.render(template, secret)
        assert "canary" not in str(caught.value), template


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''['__class__'] }}",
        "{{ release | attr('__class__') }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ release.__init__.__globals__ }}",
        "{{ self.__init__ }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ release.update({'a': 1}) }}",
        "{{ resource.config['a-b'].append(1) }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ range }}",
        "{{ release.items }}",
        "{{ 'a' | random }}",
        "{{ lipsum() }}",
    ],
)
async def test_nothing_leads_out_of_the_sandbox(templates: Templates, template: str) -> None:
    with pytest.raises(AgentRejected):
        await templates.render(template, VARIABLES)
    with pytest.raises(AgentRejected):
        await templates.render(f"text {template}", VARIABLES)


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("{{ 'x' * 10**9 }}", "more memory"),
        ("{{ '%1000000000d' % 1 }}", "more memory"),
        ("{{ 'x' | center(10**9) }}", "more memory"),
        ("{{ range(10**9) | list }}", "Range too big"),
        ("{{ [1] * (10**6 + release.version.n) }}", "more than 100,000 items"),
        ("{{ 'é' * 600000 }}", "larger than 1,048,576 bytes"),
        ("{{ ['x' * 1000] * 2000 }}", "larger than 1,048,576 bytes"),
        ("{{ 1e308 * 10 }}", "fails with"),
        ("{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "fails with RecursionError"),
    ],
)
async def test_what_grows_without_bound_is_stopped_and_says_why(
    templates: Templates, template: str, reason: str
) -> None:
    with pytest.raises(AgentRejected, match=f"^template values: .*{reason}"):
        await templates.render(template, VARIABLES, where="values")
    assert await templates.render("{{ release.name }}", VARIABLES) == "web"


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ 10 ** (10 ** 9) }}",
    ],
)
async def test_what_never_ends_is_killed_and_the_next_one_served(
    impatient: Templates, template: str
) -> None:
    with pytest.raises(AgentRejected, match=r"template a: stopped by a limit \(TimedOut\)"):
        await impatient.render({"a": template}, VARIABLES)
    with pytest.raises(AgentRejected, match=r"template one of 2, the first is a: stopped"):
        await impatient.render({"a": "{{ 1 }}", "b": template}, VARIABLES)
    assert await impatient.render("{{ release.name }}", VARIABLES) == "web"


async def test_renders_at_once_never_see_the_names_of_another() -> None:
    async with Templates(size=2) as templates:
        asked = [templates.render("{{ n }}-{{ n }}", {"n": n}) for n in range(50)]
        assert await asyncio.gather(*asked) == [f"{n}-{n}" for n in range(50)]


async def test_a_thousand_targets_cost_the_worker_no_second_and_a_half(
    templates: Templates,
) -> None:
    value = {"image": {"tag": "{{ .release.version.tag }}"}, "name": "{{ release.name }}-x"}
    await templates.render(value, VARIABLES)
    started = time.process_time()
    for _ in range(1000):
        await templates.render(value, VARIABLES)
    assert time.process_time() - started < 1.5


def test_the_names_that_templates_may_use_are_those_that_there_are() -> None:
    assert frozenset(a_side({}).template_variables()) == templating.VARIABLES
