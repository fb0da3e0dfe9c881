"""Files -> inventory: what is right is kept, what is wrong is named with file, line and field."""

from datetime import timedelta
from pathlib import Path

import pytest

from foretell.domain.errors import InvalidRequest, Problem
from foretell.domain.target import CompareSettings, IgnoreEntry
from foretell.inventory.load import LoadedInventory, load, parse

WHOLE = """\
workspace: shop
jobAgents:
  - name: helm
    type: helm
    config: {chart: charts/web}
environments:
  - name: production
    resourceSelector: resource.metadata.env == "production"
resources:
  - identifier: eu-1
    kind: Cluster
    version: v1
    metadata: {env: production}
    config: {namespace: web}
    variables: {replicas: 3, password: {env: DB_PASSWORD}}
deployments:
  - name: Web Shop
    jobAgentSelector: jobAgent.type == "helm"
    jobAgentConfig: {values: {image: "{{ release.version.tag }}"}}
    variables:
      - key: replicas
        default: 1
        values:
          - {value: 2, resourceSelector: 'resource.kind == "Cluster"', priority: 5}
      - key: nothing
        default: null
      - key: password
    plan: {enabled: true, timeout: 1m30s}
policies:
  - name: guard
    overrides: {role: admin, count: 2}
    rules:
      - planValidationOpa:
          name: no-deletes
          rego: package foretell
          enforcement: advisory
"""


def problems(text: str, **more: str) -> list[Problem]:
    with pytest.raises(InvalidRequest) as caught:
        parse({"shop.yaml": text, **more})
    return list(caught.value.problems)


def one(text: str) -> Problem:
    (problem,) = problems(text)
    return problem


def test_a_whole_file_becomes_the_inventory() -> None:
    loaded = parse({"shop.yaml": WHOLE})
    inventory = loaded.inventory
    assert loaded.workspace == "shop"
    (deployment,) = inventory.deployments
    assert deployment.slug == "web-shop"
    assert deployment.plan.timeout == timedelta(seconds=90)
    assert deployment.plan.enabled is True
    replicas, nothing, password = deployment.variables
    assert replicas.has_default
    assert replicas.values[0].priority == 5
    assert nothing.has_default
    assert nothing.default is None
    assert not password.has_default
    assert inventory.resources[0].variables["password"] == {"env": "DB_PASSWORD"}
    (policy,) = inventory.policies
    assert (policy.overrides_role, policy.overrides_count) == ("admin", 2)
    assert not policy.rules[0].mandatory


def test_the_same_file_has_the_same_ids() -> None:
    def ids(loaded: LoadedInventory) -> list[str]:
        return [str(item.id) for item in loaded.inventory.resources]

    assert ids(parse({"shop.yaml": WHOLE})) == ids(parse({"elsewhere.yaml": WHOLE}))
    other = parse({"shop.yaml": WHOLE.replace("workspace: shop", "workspace: other")})
    assert not set(ids(other)) & set(ids(parse({"shop.yaml": WHOLE})))


def test_an_item_has_one_id_whatever_it_is_called_beside_its_ref() -> None:
    renamed = WHOLE.replace("name: Web Shop", "name: The Shop\n    slug: web-shop")
    before = parse({"shop.yaml": WHOLE}).inventory.deployments[0]
    after = parse({"shop.yaml": renamed}).inventory.deployments[0]
    assert (before.id, before.name) != (after.id, after.name)
    assert before.id == after.id


def test_an_unknown_key_is_named_with_its_line_and_what_was_meant() -> None:
    assert str(one("deployments:\n  - name: web\n    resourceSelektor: ''\n")) == (
        "shop.yaml:3: deployments[0].resourceSelektor: unknown key; "
        "did you mean 'resourceSelector'?"
    )


def test_an_unlike_key_is_answered_with_those_there_are() -> None:
    assert one("environments: [{name: a, zzz: 1}]").message == (
        "unknown key; expected one of metadata, name, resourceSelector"
    )


def test_a_missing_key_is_named_where_it_should_stand() -> None:
    problem = one("deployments:\n  - name: a\n    variables:\n      - default: 1\n")
    assert str(problem) == ("shop.yaml:4: deployments[0].variables[0].key: missing; it is required")


def test_a_value_of_another_type_is_told_what_was_expected() -> None:
    assert str(one("resources:\n- identifier: 1\n")) == (
        "shop.yaml:2: resources[0].identifier: expected text, "
        "found a number (quote it to make it text)"
    )
    assert one("resources: {identifier: x}").message == "expected a list, found a map"


def test_every_wrong_place_is_named_at_once() -> None:
    found = problems("workspace: Not A Slug\nenvironments: [{}]\nresources: [{identifier: ''}]")
    assert [problem.field for problem in found] == [
        "workspace",
        "environments[0].name",
        "resources[0].identifier",
    ]


@pytest.mark.parametrize("duration", ["10", "-1m", "m", "''", "25h", "0s", "1.5h", "10 m"])
def test_a_wrong_duration_is_refused(duration: str) -> None:
    problem = one(f"deployments: [{{name: a, plan: {{timeout: {duration}}}}}]")
    assert problem.field == "deployments[0].plan.timeout"
    assert "expected a duration" in problem.message


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("1h", 3600), ("24h", 86400)]
)
def test_a_duration_is_read(text: str, seconds: int) -> None:
    loaded = parse({"a.yaml": f"deployments: [{{name: a, plan: {{timeout: {text}}}}}]"})
    assert loaded.inventory.deployments[0].plan.timeout == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ version.tag", "line 1: unexpected end of template"),
        ("{% if %}", "line 1: "),
        ("a-{{ verzion.tag }}", "'verzion' is not defined; there is deployment, environment"),
        ("{{ .Values.image }}", "'Values' is not defined"),
        ("{{ include 'a' . }}", "line 1: "),
    ],
)
@pytest.mark.parametrize(
    ("head", "field"),
    [
        ("jobAgents:\n- name: a\n  type: helm\n  config:", "jobAgents[0].config"),
        ("deployments:\n- name: a\n  jobAgentConfig:", "deployments[0].jobAgentConfig"),
    ],
)
def test_a_template_that_can_never_be_rendered_names_file_line_and_field(
    head: str, field: str, template: str, words: str
) -> None:
    found = one(f'{head}\n    values:\n      list:\n      - ok\n      - "{template}"\n')
    assert found.field == f"{field}.values.list[1]"
    assert found.where.endswith(f":{head.count(chr(10)) + 5}")
    assert found.message.startswith("template: ")
    assert words in found.message


def test_what_only_a_plan_can_tell_of_a_template_is_no_problem() -> None:
    text = "{{ resource.metadata.absent }}{% for x in range(3) %}{{ x }}{% endfor %}"
    parse({"a.yaml": f'deployments:\n- name: a\n  jobAgentConfig: {{chart: "{text}"}}\n'})


def test_a_selector_of_a_key_that_nothing_has_is_refused() -> None:
    found = one('environments:\n- name: a\n  resourceSelector: resource.nme == "b"\n')
    assert found.field == "environments[0].resourceSelector"
    assert "resource has no 'nme': there is config, id, identifier, kind, metadata" in found.message


def test_a_selector_that_does_not_parse_names_file_line_and_field() -> None:
    problem = one("environments:\n  - name: a\n    resourceSelector: 'resource.name =='\n")
    assert problem.where == "shop.yaml:3"
    assert problem.field == "environments[0].resourceSelector"


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("resource", "resources: [{identifier: a}]", "resources: [{identifier: a}]"),
        ("environment", "environments: [{name: a}]", "environments: [{name: a}]"),
        ("job agent", "jobAgents: [{name: a, type: x}]", "jobAgents: [{name: a, type: z}]"),
        ("policy", "policies: [{name: a}]", "policies: [{name: a}]"),
        ("deployment", "deployments: [{name: A b}]", "deployments: [{name: x, slug: a-b}]"),
    ],
)
def test_a_name_that_is_there_twice_names_both_places(kind: str, first: str, second: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse({"one.yaml": first, "two.yaml": second})
    (problem,) = caught.value.problems
    assert problem.where == "two.yaml:1"
    assert f"{kind} 'a" in problem.message
    assert "is there already at one.yaml:1" in problem.message


def test_a_rule_needs_its_text_or_its_file_and_not_both() -> None:
    rule = "policies: [{name: p, rules: [{planValidationOpa: {name: r%s}}]}]"
    assert "exactly one of rego" in one(rule % "").message
    assert "exactly one of rego" in one(rule % ", rego: package a, file: a.rego").message


def test_a_rule_file_is_read_relative_to_the_file_that_names_it() -> None:
    text = "policies: [{name: p, rules: [{planValidationOpa: {name: r, file: rules/a.rego}}]}]"
    files = {"inventory/p.yaml": text, "inventory/rules/a.rego": "package a"}
    assert parse(files).inventory.policies[0].rules[0].rego == "package a"


def test_a_rule_file_that_is_not_there_is_named() -> None:
    text = "policies:\n- name: p\n  rules: [{planValidationOpa: {name: r, file: a.rego}}]"
    assert "there is no file a.rego" in str(one(text))
    assert one(text).where == "shop.yaml:3"


def test_a_rule_file_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.rego").write_text("package secret")
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / "a.yaml").write_text(
        "policies: [{name: p, rules: [{planValidationOpa: {name: r, file: ../secret.rego}}]}]"
    )
    with pytest.raises(InvalidRequest) as caught:
        load([folder])
    assert "outside of the inventory's folder" in str(caught.value)


def test_a_folder_is_read_as_one_inventory(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a.yaml").write_text("workspace: shop\nenvironments: [{name: one}]")
    (tmp_path / "sub" / "b.yml").write_text("environments: [{name: two}]")
    (tmp_path / ".hidden" / "c.yaml").write_text("environments: [{name: three}]")
    loaded = load([tmp_path])
    assert loaded.workspace == "shop"
    assert [each.name for each in loaded.inventory.environments] == ["one", "two"]


def test_two_workspaces_are_not_one_inventory() -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse({"a.yaml": "workspace: a", "b.yaml": "workspace: b"})
    (problem,) = caught.value.problems
    assert (
        str(problem)
        == "b.yaml:1: workspace: 'b', but a.yaml says 'a'; an inventory has one workspace"
    )


@pytest.mark.parametrize("content", ["[1, 2", "- a\n- b\n", "text", "a: &a [*a]"])
def test_what_is_no_inventory_is_refused(content: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse({"shop.yaml": content})
    assert "shop.yaml" in str(caught.value)


def test_an_empty_file_is_an_empty_inventory() -> None:
    assert parse({"a.yaml": "# nothing yet\n"}).inventory.deployments == ()


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="there is no inventory at"):
        load([tmp_path / "nowhere"])
    with pytest.raises(InvalidRequest, match=r"holds no \.yaml"):
        load([tmp_path])
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(InvalidRequest, match="is not UTF-8 text"):
        load([tmp_path])


IGNORING = """\
ignore:
  - {kind: Secret, names: [caBundle]}
maskNames: ["*password*"]
deployments:
  - {name: Web}
  - name: API
    plan:
      ignore: [{jq: [".spec.replicas"], group: apps}]
      maskNames: ["*password*", "*token*"]
"""


def test_what_the_whole_inventory_ignores_every_deployment_ignores_before_its_own() -> None:
    api, web = parse({"a.yaml": IGNORING, "b.yaml": "maskNames: [DSN]\n"}).inventory.deployments
    everywhere = IgnoreEntry(names=("caBundle",), kind="Secret")
    assert web.plan.compare == CompareSettings((everywhere,), ("*password*", "DSN"))
    assert api.plan.compare == CompareSettings(
        (everywhere, IgnoreEntry(jq=(".spec.replicas",), group="apps")),
        ("*password*", "DSN", "*token*"),
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ignore: [{kind: Secret}]", "shop.yaml:1: ignore[0]: ignores nothing"),
        ("ignore: [{pointers: [spec]}]", "shop.yaml:1: ignore[0].pointers[0]: expected a JSON"),
        ("ignore: [{pointer: [/spec]}]", "did you mean 'pointers'?"),
        (
            "deployments:\n  - name: Web\n    plan:\n      ignore:\n        - {pointers: ['/']}\n",
            "shop.yaml:5: deployments[0].plan.ignore[0].pointers[0]: expected a JSON pointer",
        ),
        ("maskNames: ['*']", "shop.yaml:1: maskNames[0]: expected a name"),
    ],
)
def test_an_ignore_rule_that_is_none_is_named_with_its_place(text: str, expected: str) -> None:
    assert expected in str(one(text))
