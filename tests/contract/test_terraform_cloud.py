"""The agent on the fake passes what every agent promises."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from terraform_cloud_world import TOKEN, UPDATE, terraform_cloud

from foretell.testing.contracts.agent import AgentContract, AgentQuestion
from foretell.testing.terraform_cloud.world import Script


class TestTerraformCloudAgent(AgentContract):
    @pytest.fixture
    async def question(self, tmp_path: Path) -> AsyncIterator[AgentQuestion]:
        async with terraform_cloud(tmp_path, Script(plan=UPDATE, not_ready=1)) as world:
            variables = {"image_tag": "{{ version.tag }}", "password": {"env": "DB_PW"}}
            template = {"workspace": "web-production", "variables": variables}
            answered = world.question(template=template)
            refused = world.question(token={"env": "READER"}, template=template)
            yield AgentQuestion(world.agent, answered, refused, (TOKEN, "S3cr3t"))
