"""The terraform agent on the real programs; no provider is needed, nothing leaves the machine."""

import asyncio
import fcntl
import json
import platform
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from terraform_world import BACKEND, World, changed, only

from foretell.agents.terraform.agent import TerraformAgent
from foretell.agents.terraform.answer import answer
from foretell.domain.digest import Key
from foretell.domain.errors import AgentRejected
from foretell.domain.result import Done
from foretell.formats.tfplan.hash import EMPTY_HASH, plan_hash
from foretell.formats.tfplan.parse import parse
from foretell.kit.terraform.run import Planned
from foretell.kit.tree import remove
from foretell.testing.agents import a_context, a_side, agent_tools
from foretell.testing.contracts.agent import AgentContract, AgentQuestion

CANARY = "canary-8d1f-secret"
KEY = "k" * 32
SECRET = "S3cr3t-Value-42"


@pytest.fixture(params=["tofu", "terraform"])
async def world(
    request: pytest.FixtureRequest, real_program: Callable[[str], Path], tmp_path: Path
) -> AsyncIterator[World]:
    program = real_program(request.param)
    settings = {
        "terraform": str(program),
        "cacheDir": str(tmp_path / "cache"),
        "terraformRepositories": None,
        "terraformEnv": None,
    }
    environ = {"TOKEN": CANARY, "PLAN_KEY": KEY, "TF_VAR_password": SECRET}
    async with agent_tools(settings, environ=environ) as tools:
        yield World(program, tmp_path, tools)


def thing(name: str = "a", body: str = "") -> str:
    return f'resource "terraform_data" "{name}" {{\n{body}\n}}\n'


class TestContract(AgentContract):
    @pytest.fixture
    def question(self, world: World) -> AgentQuestion:
        world.write('variable "password" {}\n' + thing(body="input = var.password"))
        tag = world.commit()
        config = {**world.config, "env": ["TF_VAR_password"], "planKey": {"env": "PLAN_KEY"}}
        refused = {**config, "env": [], "workspace": "{{ version.config.name }}"}
        answered = a_context("terraform", current=None, proposed=a_side(config, tag=tag))
        wrong = a_side(refused, tag=tag, version_config={"name": "gone"})
        return AgentQuestion(
            TerraformAgent(world.tools),
            answered,
            a_context("terraform", current=None, proposed=wrong),
            (SECRET, KEY),
        )


# What a plan comes to, on real configurations: the agent's answer beside the program's own.


async def test_a_move_alone_is_a_change(world: World) -> None:
    world.apply(thing())
    moved = "moved {\n  from = terraform_data.a\n  to   = terraform_data.b\n}\n"
    done = await world.plan(thing("b") + moved)
    assert only(done).has_changes is True
    assert changed(done) == [("terraform_data.b", "no-op", ("moved from terraform_data.a",))]
    assert "0 to add, 0 to change, 0 to destroy, 1 to move" in str(only(done).diff)


async def test_a_forgotten_object_is_told_from_a_deleted_one(world: World) -> None:
    world.apply(thing())
    block = "removed {\n  from = terraform_data.a\n  lifecycle {\n    destroy = false\n  }\n}\n"
    done = await world.plan(block)
    assert only(done).has_changes is True
    ((name, action, tags),) = changed(done)
    assert (name, action) == ("terraform_data.a", "no-op")
    assert any("forget" in tag for tag in tags)
    assert "0 to destroy" in str(only(done).diff)


async def test_an_import_alone_is_a_change(world: World) -> None:
    block = 'import {\n  to = terraform_data.a\n  id = "x"\n}\n'
    done = await world.plan(thing() + block)
    assert only(done).has_changes is True
    ((name, action, tags),) = changed(done)
    assert (name, action) == ("terraform_data.a", "no-op")
    assert any("import" in tag for tag in tags)


async def test_an_output_alone_is_a_change(world: World) -> None:
    world.apply('output "o" {\n  value = 1\n}\n')
    done = await world.plan('output "o" {\n  value = 2\n}\n')
    assert only(done).has_changes is True
    assert [(each.kind, each.name) for each in only(done).resources] == [("output", "o")]


async def test_an_unmarked_copy_of_a_secret_is_hidden(world: World) -> None:
    variable = 'variable "p" {\n  sensitive = true\n}\n'
    world.apply(variable + thing(body="input = var.p"), f"-var=p={SECRET}")
    assert SECRET in world.state.read_text()
    world.write(f'p = "{SECRET}"\n', "infra/p.tfvars")
    done = await world.plan(variable, varFiles=["p.tfvars"])
    assert [each.action.value for each in only(done).resources] == ["delete"]
    assert SECRET not in repr(done)


async def test_a_change_of_sensitivity_alone_is_a_change_and_shows_no_value(world: World) -> None:
    world.apply(thing(body=f'input = sensitive("{SECRET}")'))
    done = await world.plan(thing(body=f'input = "{SECRET}"'))
    assert [each.action.value for each in only(done).resources] == ["modify"]
    assert "sensitiv" in str(only(done).diff)
    assert SECRET not in repr(done)


PRECONDITION = """
  lifecycle {
    precondition {
      condition     = var.n == 2
      error_message = "n must be two"
    }
  }
"""
NUMBER = 'variable "n" {\n  default = 1\n}\n'


async def test_a_failed_plan_is_never_a_small_valid_one(world: World) -> None:
    world.apply(thing("old"))
    error = await world.refused(NUMBER + thing("a", PRECONDITION))
    assert f"{world.program.name} plan failed" in error.message
    assert "n must be two" in error.message
    assert isinstance(error, AgentRejected)


async def test_a_failed_plan_quotes_no_value_that_is_marked_sensitive(world: World) -> None:
    variable = 'variable "p" {\n  sensitive = true\n}\n'
    says_it = PRECONDITION.replace("n must be two", "not ${nonsensitive(var.p)}")
    world.write(f'p = "{SECRET}"\n', "infra/p.tfvars")
    error = await world.refused(variable + NUMBER + thing("a", says_it), varFiles=["p.tfvars"])
    assert "not ***" in error.message
    assert SECRET not in error.message


async def test_a_broken_configuration_never_shows_an_older_plan(world: World) -> None:
    await world.plan(thing())
    error = await world.refused(thing(body="input = ["))
    assert "failed" in error.message
    assert "main.tf" in error.message
    assert str(world.folder) not in error.message


async def test_a_replacement_says_in_which_order(world: World) -> None:
    first = "create_before_destroy"
    body = "triggers_replace = %d\n  lifecycle {\n    create_before_destroy = %s\n  }"
    world.apply(thing("a", body % (1, "true")) + thing("b", body % (1, "false")))
    done = await world.plan(thing("a", body % (2, "true")) + thing("b", body % (2, "false")))
    assert {action for _, action, _ in changed(done)} == {"replace"}
    tags = {name: tags for name, _, tags in changed(done)}
    assert tags["terraform_data.a"] != tags["terraform_data.b"], first
    assert "2 to add, 0 to change, 2 to destroy" in str(only(done).diff)


async def test_a_volatile_value_has_another_hash_each_time(world: World) -> None:
    text = thing(body="input = plantimestamp()")
    one = await world.plan(text)
    await asyncio.sleep(1.1)  # what the program calls now has whole seconds
    two = await world.plan(text)
    assert only(one).content_hash != only(two).content_hash


async def test_a_failing_check_is_told_where_nothing_changes(world: World) -> None:
    world.apply(NUMBER + thing())
    check = """
check "c" {
  assert {
    condition     = var.n == 2
    error_message = "n is not two"
  }
}
"""
    done = await world.plan(NUMBER + thing() + check)
    assert only(done).has_changes is False
    assert "checks that do not hold: 1" in done.message
    assert "n is not two" in str(only(done).diff)


async def test_no_changes_is_what_the_program_says(world: World) -> None:
    world.apply(thing(body='input = "x"'))
    done = await world.plan(thing(body='input = "x"'))
    assert only(done).has_changes is False
    assert only(done).resources == ()
    assert done.message == ""
    assert only(done).content_hash == EMPTY_HASH


@pytest.mark.parametrize("world", ["terraform"], indirect=True)
async def test_ten_thousand_resources_are_planned(world: World) -> None:
    done = await world.plan(thing(body="count = 10000\n  input = count.index"))
    assert len(only(done).resources) == 10_000
    assert "Plan: 10000 to add" in str(only(done).diff)


async def test_a_targeted_plan_is_told_from_a_whole_one_where_the_program_says_so(
    world: World,
) -> None:
    own = world.folder / "applied"
    world.apply("")
    (own / "main.tf").write_text(
        BACKEND + thing() + thing("b") + 'output "o" {\n  value = terraform_data.b.id\n}\n'
    )
    assert world.call("plan", "-target=terraform_data.a", "-out=p", cwd=own) == 0
    shown = world.said("show", "-json", "p", cwd=own)
    found = answer(Planned(2, shown), Key(KEY.encode()), ())
    assert [each.name for each in found.result.resources] == ["terraform_data.a"]
    complete = json.loads(shown).get("complete")
    assert complete is (None if world.program.name == "tofu" else False)
    assert ("incomplete: targeted" in found.message) is (complete is False)


# Where the configuration and its state are.


async def test_a_workspace_is_chosen_and_never_made(world: World) -> None:
    error = await world.refused(thing(), workspace="eu")
    assert "there is no workspace eu" in error.message
    assert not (world.folder / "state").exists()


async def test_a_workspace_has_a_state_of_its_own(world: World) -> None:
    world.apply(thing())
    own = world.folder / "applied"
    assert world.call("workspace", "new", "eu", cwd=own) == 0
    assert only(await world.plan(thing())).has_changes is False
    ((_, action, _),) = changed(await world.plan(thing(), workspace="eu"))
    assert action == "add"


async def test_a_plan_neither_takes_nor_leaves_nor_heeds_a_lock(world: World) -> None:
    world.apply(thing())
    lock = world.state.with_name(f".{world.state.name}.lock.info")
    lock.write_text("{}")
    before = world.state.read_bytes(), sorted(path.name for path in world.state.parent.iterdir())
    with world.state.open("r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        done = await world.plan(thing(body="input = 1"))
    assert only(done).has_changes is True
    after = world.state.read_bytes(), sorted(path.name for path in world.state.parent.iterdir())
    assert after == before


async def test_another_backend_needs_no_reconfiguring(world: World) -> None:
    world.apply(thing())
    assert only(await world.plan(thing())).has_changes is False
    other = {"path": str(world.folder / "other.tfstate")}
    assert only(await world.plan(thing(), backendConfig=other)).has_changes is True
    assert only(await world.plan(thing())).has_changes is False


async def test_a_backend_config_is_taken_literally(world: World) -> None:
    world.apply(thing())
    odd = world.folder / 'odd ${x} "q" é.tfstate'
    odd.write_bytes(world.state.read_bytes())
    assert odd.exists()
    assert only(await world.plan(thing(), backendConfig={"path": str(odd)})).has_changes is False


async def test_a_backend_config_without_a_backend_is_refused(world: World) -> None:
    world.write(thing())
    main = world.repository / "infra" / "main.tf"
    main.write_text(thing())
    error = await world.refused()
    assert "no backend block" in error.message


async def test_a_configuration_without_any_state_says_that_all_looks_new(world: World) -> None:
    world.write(thing())
    (world.repository / "infra" / "main.tf").write_text(thing())
    done = await world.plan(backendConfig={})
    assert "no backend" in done.message


async def test_modules_beside_the_root_module_are_found(world: World) -> None:
    world.write(thing(), "modules/m/m.tf")
    done = await world.plan('module "m" {\n  source = "../modules/m"\n}\n')
    assert changed(done)[0][0] == "module.m.terraform_data.a"


async def test_the_checkout_is_never_written_to(world: World) -> None:
    world.write(thing())
    commit = world.commit()
    await world.planned(commit, world.config)
    trees = world.folder / "cache" / "checkouts" / "trees"
    files = sorted(path.name for path in trees.rglob("*") if path.is_file())
    assert files == ["main.tf"]
    assert world.leftovers() == []


async def test_var_files_are_read_beside_the_module_and_not_outside(world: World) -> None:
    text = 'variable "v" {}\n' + thing(body="input = var.v")
    world.write('v = "from-the-file"\n', "infra/env/prod.tfvars")
    done = await world.plan(text, varFiles=["env/prod.tfvars"])
    assert "from-the-file" in only(done).proposed
    assert "no variables file" in (await world.refused(text, varFiles=["gone.tfvars"])).message
    assert "outside" in (await world.refused(text, varFiles=["../../x.tfvars"])).message


async def test_a_missing_variable_is_an_error_and_never_a_question(world: World) -> None:
    error = await world.refused('variable "wanted" {}\n' + thing(body="input = var.wanted"))
    assert "wanted" in error.message
    assert "varFiles" in error.message


async def test_a_missing_provider_is_an_error_that_names_it(world: World) -> None:
    provider = (
        "terraform {\n  required_providers {\n    gone = {\n"
        '      source = "registry.invalid/acme/gone"\n    }\n  }\n}\n'
    )
    error = await world.refused(provider + 'resource "gone_thing" "a" {}\n')
    assert f"{world.program.name} init failed" in error.message
    assert "registry.invalid" in error.message


async def test_a_target_that_is_removed_shows_what_would_be_destroyed(world: World) -> None:
    world.apply(thing())
    world.write(thing())
    side = a_side(world.config, tag=world.commit())
    context = a_context("terraform", current=side, proposed=None)
    done = await TerraformAgent(world.tools).plan(context, None)
    assert isinstance(done, Done)
    assert [action for _, action, _ in changed(done)] == ["delete"]


# What the program gets, and what it may say.


async def test_only_named_variables_reach_the_program(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETELL_SECRET_KEY", CANARY)
    monkeypatch.setenv("TF_VAR_unnamed", CANARY)
    monkeypatch.setenv("TF_CLI_ARGS_plan", "-destroy")
    text = 'variable "unnamed" {\n  default = "unset"\n}\n' + thing(body="input = var.unnamed")
    done = await world.plan(text)
    assert '"unset"' in only(done).proposed
    assert CANARY not in repr(done)


async def test_a_secret_of_the_environment_is_hidden_in_results_and_errors(world: World) -> None:
    text = 'variable "password" {}\n' + thing(body="input = var.password")
    done = await world.plan(text, env=["TF_VAR_password"])
    assert SECRET not in repr(done)
    broken = text + 'locals {\n  x = var.password.y\n}\noutput "o" {\n  value = local.x\n}\n'
    error = await world.refused(broken, env=["TF_VAR_password"])
    assert SECRET not in error.message


async def test_the_same_change_of_two_targets_has_two_names_and_with_a_key_one(
    world: World,
) -> None:
    world.write(thing())
    commit = world.commit()
    one = only(await world.planned(commit, world.config))
    two = only(await world.planned(commit, world.config, resource={"id": "r-2"}))
    assert one.content_hash != two.content_hash
    assert one.plan_key_id != two.plan_key_id
    keyed = {**world.config, "planKey": {"env": "PLAN_KEY"}}
    three = only(await world.planned(commit, keyed))
    four = only(await world.planned(commit, keyed, resource={"id": "r-2"}))
    assert (three.content_hash, three.plan_key_id) == (four.content_hash, four.plan_key_id)
    assert KEY not in repr(three)


async def test_the_hash_is_the_one_that_anybody_with_the_key_computes(world: World) -> None:
    world.apply(thing())
    own = world.folder / "applied"
    (own / "main.tf").write_text(BACKEND + thing(body="input = 1.50"))
    assert world.call("plan", "-out=p", cwd=own) == 0
    theirs = plan_hash(parse(world.said("show", "-json", "p", cwd=own)), KEY.encode())
    ours = only(await world.plan(thing(body="input = 1.50"), planKey={"env": "PLAN_KEY"}))
    assert ours.content_hash == theirs


# Providers, out of a folder in place of a registry.


def a_provider(folder: Path) -> str:
    """A configuration that needs a provider, packed where `init` finds it. It can't be started."""
    packed = folder / "registry.test" / "acme" / "nothing"
    packed.mkdir(parents=True)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    name = f"terraform-provider-nothing_1.0.0_{platform.system().lower()}_{machine}.zip"
    member = zipfile.ZipInfo("terraform-provider-nothing_v1.0.0")
    member.external_attr = 0o755 << 16
    with zipfile.ZipFile(packed / name, "w") as archive:
        archive.writestr(member, "#!/bin/sh\nexit 1\n")
    settings = (
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{folder}"\n  }}\n}}\n'
    )
    (folder / "cli.tfrc").write_text(settings)
    return (
        "terraform {\n  required_providers {\n    nothing = {\n"
        '      source = "registry.test/acme/nothing"\n    }\n  }\n}\n'
    )


@pytest.fixture
async def with_provider(world: World, tmp_path: Path) -> AsyncIterator[World]:
    settings = {**world.tools.settings}
    environ = {"TF_CLI_CONFIG_FILE": str(tmp_path / "registry" / "cli.tfrc")}
    async with agent_tools(settings, environ=environ) as tools:
        yield World(world.program, tmp_path, tools)


async def test_providers_that_a_lock_file_pins_are_shared_and_never_written_to(
    with_provider: World,
) -> None:
    world, registry = with_provider, with_provider.folder / "registry"
    text = a_provider(registry) + thing()
    kept = world.folder / "cache" / "terraform" / "providers"

    async def planned() -> None:
        """As far as the provider, which is found and does not start."""
        error = await world.refused(text, env=["TF_CLI_CONFIG_FILE"])
        assert "plan failed" in error.message
        assert "terraform-provider-nothing" in error.message

    await planned()
    assert not kept.exists(), "without a lock file nothing says which versions are meant"
    module = world.repository / "infra"
    mirror = f"-fs-mirror={registry}"
    assert world.call("providers", "lock", mirror, cwd=module) == 0
    await planned()
    (shared,) = kept.iterdir()
    files = {path: path.stat() for path in shared.rglob("*")}
    assert any(path.name == "terraform-provider-nothing_v1.0.0" for path in files)
    assert not any(found.st_mode & 0o222 for path, found in files.items() if not path.is_symlink())
    for archive in registry.rglob("*.zip"):
        archive.write_bytes(b"nobody unpacks this")
    await planned()
    assert {path: path.stat().st_mtime_ns for path in shared.rglob("*")} == {
        path: found.st_mtime_ns for path, found in files.items()
    }
    remove(shared)
