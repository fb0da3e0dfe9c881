"""The config of the terraform agent, and what is allowed to be planned with it."""

from pathlib import Path
from typing import Any

import pytest

from foretell.agents.terraform.config import check_unrevealed, config_complaints, read_config
from foretell.agents.terraform.environment import passed
from foretell.agents.terraform.source import Repositories
from foretell.domain.context import Side, Source
from foretell.domain.errors import AgentRejected, InvalidRequest
from foretell.formats.tfplan.plan_key import plan_key
from foretell.inventory.secrets import References
from foretell.kit.git import Checkouts
from foretell.kit.renders import SharedRenders
from foretell.testing.agents import a_context, a_side

WHOLE: dict[str, Any] = {
    "repository": {"url": "https://git.test/acme/infra.git", "path": "live/eu"},
    "binary": "tofu",
    "backendConfig": {"bucket": "b", "nested": {"x": [1]}},
    "workspace": "eu",
    "varFiles": ["eu.tfvars"],
    "env": ["AWS_REGION", "TF_VAR_size"],
    "planKey": "k" * 32,
    "timeout": "5m",
}


def test_every_key_is_read() -> None:
    config = read_config(WHOLE)
    assert config.repository.path == "live/eu"
    assert config.timeout.total_seconds() == 300
    assert "kkk" not in repr(config)


def test_only_a_repository_is_needed() -> None:
    config = read_config({"repository": {"url": "."}})
    assert (config.repository.path, config.workspace, config.binary) == (".", None, None)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({}, "repository: missing"),
        ({"repository": {"path": "x"}}, "repository.url: missing"),
        ({"repository": {"url": "x", "ref": "y"}}, "repository.ref: unknown key"),
        ({"repository": {"url": "--upload-pack=x"}}, "repository.url"),
        ({"workspce": "x"}, "did you mean 'workspace'"),
        ({"workspace": "-x"}, "workspace: expected"),
        ({"workspace": "a/b"}, "workspace: expected"),
        ({"env": ["A B"]}, "env[0]: expected"),
        ({"env": ["TF_CLI_ARGS_plan"]}, "env[0]: Foretell sets this variable itself"),
        ({"env": ["TF_DATA_DIR"]}, "env[0]: Foretell sets"),
        ({"env": ["LD_PRELOAD"]}, "env[0]: Foretell sets"),
        ({"planKey": "short"}, "planKey: expected a key of at least 32 bytes"),
        ({"timeout": 5}, "timeout: expected a duration"),
        ({"varFiles": "x"}, "varFiles: expected a list"),
    ],
)
def test_a_wrong_key_is_named(config: dict[str, Any], says: str) -> None:
    whole = config if config == {} else {"repository": {"url": "x"}, **config}
    with pytest.raises(AgentRejected) as caught:
        read_config(whole)
    assert says in caught.value.message
    assert "short" not in caught.value.message


def test_an_inventory_is_checked_before_its_templates_are_rendered() -> None:
    opened = {
        **WHOLE,
        "repository": {"url": "{{ x }}", "path": "{{ y }}"},
        "workspace": "{{ environment.name }}",
        "planKey": {"env": "KEY"},
        "env": {"env": "NO"},
    }
    assert config_complaints(opened, partial=False) == []
    assert config_complaints({}, partial=True) == []
    assert [each.field for each in config_complaints({}, partial=False)] == ["repository"]
    (wrong,) = config_complaints({"repository": {"url": "x", "ref": "{{ y }}"}}, partial=False)
    assert wrong.field == "repository.ref"


def test_a_plan_key_in_plain_text_is_refused() -> None:
    assert [each.field for each in config_complaints(WHOLE, partial=False)] == ["planKey"]
    with pytest.raises(AgentRejected, match="planKey: expected a reference"):
        check_unrevealed(WHOLE)


def test_what_is_let_through_is_a_secret_unless_its_name_says_not() -> None:
    environ = {"AWS_REGION": "eu-west-1", "DB": "s3cr3t", "SECRET_FILE": "x" * 9, "HOME": "/home/x"}
    found = passed(list(environ), References(environ, None), None)
    assert found.variables == environ
    assert found.secrets == {"s3cr3t", "x" * 9}
    assert "s3cr3t" not in repr(found)


def test_a_variable_that_is_not_set_is_named() -> None:
    with pytest.raises(AgentRejected, match="GONE"):
        passed(["GONE"], References({}, None), None)


def test_a_variable_of_the_server_itself_is_nobody_s_to_pass() -> None:
    with pytest.raises(AgentRejected, match="FORETELL_SECRET_KEY"):
        passed(["FORETELL_SECRET_KEY"], References({"FORETELL_SECRET_KEY": "x"}, None), None)


def test_a_server_passes_only_what_its_setting_names() -> None:
    environ = References({"A": "a", "B": "b"}, None)
    assert passed(["A"], environ, ["A"]).variables == {"A": "a"}
    with pytest.raises(AgentRejected, match="B may not be let through"):
        passed(["A", "B"], environ, ["A"])


def _key(given: str | None, installation: bytes = bytes(32), **more: Any) -> Any:
    side = a_side({}, **more)
    return plan_key(given, installation, a_context("terraform", current=None, proposed=side))


def test_a_derived_key_is_of_one_target_and_one_installation() -> None:
    keys = [_key(None), _key(None, b"x" * 32), _key(None, resource={"id": "r-2"})]
    assert len({key.secret for key in keys}) == len({key.id for key in keys}) == 3
    assert _key(None) == _key(None)
    assert all(len(key.secret) == 32 for key in keys)


def test_a_given_key_is_the_same_for_every_target_and_its_name_tells_nothing_of_it() -> None:
    one, two = _key("k" * 32), _key("k" * 32, resource={"id": "r-2"})
    assert one == two
    assert one.secret == b"k" * 32
    assert "kkkk" not in repr(one)


def test_no_key_is_derived_from_a_short_one() -> None:
    with pytest.raises(InvalidRequest):
        _key(None, b"short")


async def _refused(
    allowed: list[str] | None, url: str, side: Side, cache: Path, head: str = ""
) -> str:
    repositories = Repositories(Checkouts(cache), allowed, SharedRenders())
    with pytest.raises(AgentRejected) as caught:
        await repositories.tree(read_config({"repository": {"url": url}}), side, head)
    return caught.value.message


@pytest.mark.parametrize(
    ("allowed", "url"),
    [
        ([], "https://git.test/acme/infra"),
        (["https://git.test/acme"], "https://git.test/acme-evil/infra"),
        (["https://git.test/acme"], "https://git.test/acme/../evil"),
        (["https://git.test/acme"], "https://git.test/acme/%2e%2e/evil"),
        (["https://git.test/acme"], "https://git.test.evil/acme"),
        (["https://git.test/acme/infra.git"], "https://git.test/acme/infra-2"),
        (["https://git.test/acme"], "http://git.test/acme/infra"),
        (["https://git.test/acme"], "https://user@git.test/acme/infra"),
        (["/srv/git"], "/srv/git-evil"),
        (["/srv/git"], "/srv/git/../evil"),
        (["/srv/git"], "srv/git"),
    ],
)
async def test_nothing_is_planned_that_is_not_allowed(
    tmp_path: Path, allowed: list[str], url: str
) -> None:
    message = await _refused(allowed, url, a_side({}, tag="a" * 40), tmp_path)
    assert "may not be planned here" in message


async def test_a_link_does_not_lead_out_of_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours" / "link").symlink_to(tmp_path / "theirs")
    allowed = [str(tmp_path / "ours")]
    link = str(tmp_path / "ours" / "link")
    assert "may not" in await _refused(allowed, link, a_side({}, tag="a" * 40), tmp_path)


async def test_the_repository_of_a_local_plan_is_not_known_to_a_server(tmp_path: Path) -> None:
    assert "a server needs its URL" in await _refused(None, ".", a_side({}), tmp_path)


async def test_a_commit_that_nobody_named_is_not_guessed(tmp_path: Path) -> None:
    message = await _refused(None, str(tmp_path), a_side({}, tag="v1.2"), tmp_path)
    assert "it is not known which commit version v1.2 is" in message
    assert "git/sha" in message


async def test_a_local_plan_s_own_folder_is_read_as_it_is(tmp_path: Path) -> None:
    repositories = Repositories(Checkouts(tmp_path / "cache"), None, SharedRenders())
    side = a_side({}, source=Source(str(tmp_path), ""))
    config = read_config({"repository": {"url": "."}})
    assert await repositories.tree(config, side) == tmp_path
