"""`foretell policy check` and `foretell policy test`, and the examples that the documents show."""

from pathlib import Path

import pytest

from foretell.cli.app import run

EXAMPLES = Path(__file__).parents[3] / "examples" / "policies"
RULE = 'package main\n\ndeny contains "no" if input.environment.name == "production"\n'
INVENTORY = """\
jobAgents: [{name: agent, type: test-runner}]
environments:
  - {name: production}
  - {name: staging}
resources: [{identifier: eu-1}, {identifier: eu-2}]
deployments: [{name: Web}]
policies:
  - name: guard
    selector: environment.name == "production"
    rules: [{planValidationOpa: {name: r, file: rule.rego}}]
  - {name: nowhere, selector: environment.name == "qa", rules: []}
"""


def test_every_example_passes_its_own_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "test", str(EXAMPLES)]) == 0
    said = capsys.readouterr().out
    rules = [path for path in EXAMPLES.glob("*.rego") if not path.stem.endswith("_test")]
    assert len(rules) >= 12
    for rule in rules:
        assert f"pass  {rule.name}: can be judged" in said
        assert f"pass  {rule.stem}_test.rego: test_" in said
        assert f"pass  {rule.stem}." in said.replace(f"pass  {rule.name}", "")
    assert "FAIL" not in said


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("rule_test.rego", "package t\ntest_it if false\n", "it is undefined"),
        ("rule_test.rego", "package t\ntest_it := 1\n", "it is 1, expected true"),
        (
            "rule_test.rego",
            "package t\ntest_it if 1 + input.x == 2 with input.x as `a`\n",
            "line 2",
        ),
        ("rule_test.rego", "package t\nother if true\n", "there is no rule `test_…` in it"),
        ("rule_test.rego", "package t\ntest_it if http.send({}) == 1\n", "http.send"),
        ("rule_test.rego", "no rego", "line 1"),
        ("rule.case.yaml", "input: {environment: {name: production}}\n", "deny is ['no']"),
        ("rule.case.yaml", "input: {}\ndeny: ['no']\n", "deny is [], expected ['no']"),
        ("rule.case.yaml", "input: {}\nwarn: ['no']\n", "warn is [], expected ['no']"),
        ("rule.case.yaml", "deny: []\n", "expected a map with `input`"),
        ("rule.case.yaml", "input: {}\ndenied: []\n", "unknown key 'denied'"),
        ("rule.case.yaml", "input: [\n", "no YAML"),
        ("ruel_test.rego", "package t\ntest_it if true\n", "there is no ruel.rego"),
        ("ruel.case.json", "{}", "there is no ruel.rego"),
    ],
)
def test_a_test_that_tests_nothing_or_fails_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, cause: str
) -> None:
    (tmp_path / "rule.rego").write_text(RULE)
    (tmp_path / name).write_text(text)
    assert run(["policy", "test", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    (failed,) = (line for line in said.splitlines() if line.startswith("FAIL"))
    assert failed.startswith(f"FAIL  {name}: ")
    assert cause in failed


def test_a_folder_without_a_rule_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["policy", "test", str(tmp_path)]) == 1
    assert "there is no rule" in capsys.readouterr().err


def test_checked_policies_say_what_they_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rule.rego").write_text(RULE)
    (tmp_path / "inventory.yaml").write_text(INVENTORY)
    assert run(["policy", "check", str(tmp_path / "inventory.yaml")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1 rule can be judged",
        "policy guard: 2 of 4 targets (web on production / eu-1, web on production / eu-2)",
        "policy nowhere: 0 of 4 targets",
    ]


def test_each_wrong_place_of_each_rule_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad, worse = (tmp_path / f"{name}.rego" for name in ("good", "bad", "worse"))
    good.write_text(RULE)
    bad.write_text(
        'package main\ndeny contains "x" if {\n\tinput.a == b\n\tcrypto.sha256("a")\n}\n'
    )
    worse.write_text("package main\nviolation contains 1\n")
    assert run(["policy", "check", str(good), str(bad), str(worse)]) == 1
    said = capsys.readouterr().err
    assert "bad.rego:3: " in said
    assert "bad.rego:4: " in said
    assert "crypto.sha256" in said
    assert "worse.rego:2: " in said
    assert "good.rego" not in said
