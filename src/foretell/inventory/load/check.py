"""What no single part of a file can know: names that clash, selectors, files of rules."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from foretell.domain.errors import InvalidRequest, Problem
from foretell.inventory.load.build import Parts, slug_of
from foretell.inventory.load.schema import DeploymentPart, OpaPart
from foretell.inventory.load.source import Path, SourceFile
from foretell.inventory.select import check_selector
from foretell.inventory.template import template_problems

FileProblem = Callable[[SourceFile, str], str | None]
"""(the inventory file, the path that a rule's `file` gives) -> why it can't be read, or None."""

Named = tuple[SourceFile, Path, str]


def problems(parts: Parts, file_problem: FileProblem) -> list[Problem]:
    """Everything that is wrong between or inside well-shaped parts, in the order of the files."""
    return [
        *_clashes(parts),
        *_selectors(parts),
        *_templates(parts),
        *_rules(parts, file_problem),
        *_ignore(parts),
    ]


def _clashes(parts: Parts) -> Iterator[Problem]:
    yield from _twice("job agent", _named(parts.agents, "name"))
    yield from _twice("environment", _named(parts.environments, "name"))
    yield from _twice("resource", _named(parts.resources, "identifier"))
    yield from _twice("policy", _named(parts.policies, "name"))
    yield from _twice(
        "deployment", [(s, (*at, "slug"), slug_of(part)) for s, at, part in parts.deployments]
    )
    for source, at, part in parts.deployments:
        if not slug_of(part):
            yield source.problem((*at, "slug"), "missing; the name has no letter to make one of")
        yield from _twice(
            "variable",
            [(source, (*at, "variables", i, "key"), v.key) for i, v in enumerate(part.variables)],
        )
    for source, at, policy in parts.policies:
        yield from _twice(
            "rule",
            [
                (source, (*at, "rules", i, "planValidationOpa", "name"), r.plan_validation_opa.name)
                for i, r in enumerate(policy.rules)
            ],
        )


def _named(parts: Sequence[tuple[SourceFile, Path, object]], key: str) -> list[Named]:
    return [(source, (*at, key), str(getattr(part, key))) for source, at, part in parts]


def _twice(what: str, names: Iterable[Named]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for source, path, name in names:
        place = f"{source.name}:{source.line(path)}"
        if name in seen:
            yield source.problem(
                path, f"{what} {name!r} is there already at {seen[name]}; rename or remove one"
            )
        seen.setdefault(name, place)


def _selectors(parts: Parts) -> Iterator[Problem]:
    for source, path, text in _selector_texts(parts):
        if text:
            try:
                check_selector(text)
            except InvalidRequest as error:
                yield source.problem(path, str(error))


def _selector_texts(parts: Parts) -> Iterator[Named]:
    for source, at, environment in parts.environments:
        yield source, (*at, "resourceSelector"), environment.resource_selector
    for source, at, deployment in parts.deployments:
        yield source, (*at, "resourceSelector"), deployment.resource_selector
        yield source, (*at, "jobAgentSelector"), deployment.job_agent_selector
        yield from _variable_selectors(source, at, deployment)
    for source, at, policy in parts.policies:
        yield source, (*at, "selector"), policy.selector


def _templates(parts: Parts) -> Iterator[Problem]:
    configs = [(s, (*at, "config"), agent.config) for s, at, agent in parts.agents]
    configs += [
        (s, (*at, "jobAgentConfig"), deployment.job_agent_config)
        for s, at, deployment in parts.deployments
    ]
    for source, at, config in configs:
        for path, problem in template_problems(config):
            yield source.problem((*at, *path), f"template: {problem}")


def _variable_selectors(source: SourceFile, at: Path, part: DeploymentPart) -> Iterator[Named]:
    for i, variable in enumerate(part.variables):
        for j, value in enumerate(variable.values):
            path = (*at, "variables", i, "values", j, "resourceSelector")
            yield source, path, value.resource_selector


def _rules(parts: Parts, file_problem: FileProblem) -> Iterator[Problem]:
    for source, at, policy in parts.policies:
        for i, rule in enumerate(policy.rules):
            path = (*at, "rules", i, "planValidationOpa")
            yield from _rule(source, path, rule.plan_validation_opa, file_problem)


def _rule(
    source: SourceFile, path: Path, rule: OpaPart, file_problem: FileProblem
) -> Iterator[Problem]:
    if (rule.rego is None) == (rule.file is None):
        yield source.problem(path, "expected exactly one of rego (the text) and file (its path)")
    elif rule.file is not None and (wrong := file_problem(source, rule.file)):
        yield source.problem((*path, "file"), wrong)
    elif rule.rego is not None and not rule.rego.strip():
        yield source.problem((*path, "rego"), "expected a Rego module, found no text")


def _ignore(parts: Parts) -> Iterator[Problem]:
    placed = [*parts.ignore]
    for source, at, deployment in parts.deployments:
        placed += [
            (source, (*at, "plan", "ignore", i), one)
            for i, one in enumerate(deployment.plan.ignore)
        ]
    for source, at, part in placed:
        yield from (source.problem((*at, *path), message) for path, message in part.complaints())
