"""The environment beats the file, and a wrong setting stops the start by its name."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from foretell.domain.errors import InvalidRequest
from foretell.ports import Forks, PullRequestRules, Role
from foretell.settings import read_settings


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "foretell.yaml"
    monkeypatch.setenv("FORETELL_CONFIG", str(file))
    return file


def test_the_file_sets_what_the_environment_does_not(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("port: 9000\nplan_deadline: PT10M\n")
    monkeypatch.setenv("FORETELL_PORT", "9001")
    settings = read_settings()
    assert settings.port == 9001
    assert settings.plan_deadline == timedelta(minutes=10)


def test_a_wrong_setting_is_named_and_its_value_is_not(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_PORT", "s3cr3t")
    with pytest.raises(InvalidRequest) as caught:
        read_settings()
    assert "port" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)


def test_an_unknown_setting_in_the_file_is_refused(config: Path) -> None:
    config.write_text("prot: 9000\n")
    with pytest.raises(InvalidRequest, match="prot"):
        read_settings()


@pytest.mark.parametrize("content", ["- a list", "a: [unclosed"])
def test_a_file_that_is_no_map_is_refused_by_its_name(config: Path, content: str) -> None:
    config.write_text(content)
    with pytest.raises(InvalidRequest, match=r"foretell\.yaml"):
        read_settings()


def test_a_file_that_is_not_there_is_refused_by_its_name(config: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"foretell\.yaml"):
        read_settings()


def test_the_database_address_is_no_text_that_prints(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_DATABASE_URL", "postgresql://u:s3cr3t@h/d")
    assert "s3cr3t" not in repr(read_settings())


@pytest.mark.parametrize("secret", ["", " ", "\n"])
def test_an_empty_webhook_secret_stops_the_start(
    secret: str, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_GITHUB_WEBHOOK_SECRET", secret)
    with pytest.raises(InvalidRequest, match=r"github_webhook_secret: .*empty"):
        read_settings()


def test_the_webhook_secret_is_no_text_that_prints(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_GITHUB_WEBHOOK_SECRET", "c4n4ry-s3cr3t")
    settings = read_settings()
    assert settings.github_webhook_secret is not None
    assert "c4n4ry" not in f"{settings!r}{settings.model_dump()}"


def test_which_pull_requests_are_planned_is_set_together(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("github_forks: asked\ngithub_labels: [plan]\n")
    monkeypatch.setenv("FORETELL_GITHUB_PATHS", '["charts/"]')
    found = read_settings().pull_request_rules()
    assert found == PullRequestRules(False, Forks.ASKED, ("plan",), ("charts/",))


GRANT = {"workspace": "shop", "audience": "foretell", "repository": "acme/shop", "ref": "*"}


def test_mappings_of_an_identity_provider_are_a_list(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config.write_text("")
    monkeypatch.setenv("FORETELL_OIDC_GRANTS", json.dumps([GRANT, GRANT | {"role": "viewer"}]))
    first, second = read_settings().oidc_grants
    assert (first.role, second.role) == (Role.PLANNER, Role.VIEWER)
    assert first.issuer == "https://token.actions.githubusercontent.com"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"repository": "*/*"}, "repository"),
        ({"repository": "*"}, "repository"),
        ({"repository": "acme"}, "repository"),
        ({"repository": "acm*/shop"}, "repository"),
        ({"issuer": "http://idp.example"}, "issuer"),
        ({"audience": ""}, "audience"),
        ({"ref": ""}, "ref"),
        ({"workspace": ""}, "workspace"),
        ({"role": "owner"}, "role"),
        ({"branch": "main"}, "branch"),
    ],
)
def test_a_mapping_that_lets_in_the_world_or_says_nothing_stops_the_start(
    wrong: dict[str, str], named: str, config: Path
) -> None:
    config.write_text(yaml.safe_dump({"oidc_grants": [GRANT | wrong]}))
    with pytest.raises(InvalidRequest, match=rf"oidc_grants\.0\.{named}"):
        read_settings()


@pytest.mark.parametrize("missing", list(GRANT))
def test_a_mapping_says_who_what_and_where(missing: str, config: Path) -> None:
    given = {key: value for key, value in GRANT.items() if key != missing}
    config.write_text(yaml.safe_dump({"oidc_grants": [given]}))
    with pytest.raises(InvalidRequest, match=rf"oidc_grants\.0\.{missing}"):
        read_settings()
