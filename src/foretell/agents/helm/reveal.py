"""The config of one side, revealed and read."""

from dataclasses import dataclass, field

from foretell.agents.helm.config import HelmConfig, check_unrevealed, read_config
from foretell.domain.context import Side
from foretell.inventory.reveal import reveal_side
from foretell.ports import AgentTools


@dataclass(frozen=True, slots=True)
class RevealedConfig:
    """`secrets`: every secret text that may be in it, to be redacted by value."""

    config: HelmConfig
    secrets: frozenset[str] = field(repr=False)


async def reveal_config(side: Side, tools: AgentTools) -> RevealedConfig:
    """Raises AgentRejected for a template, a reference or a key that is wrong."""
    check_unrevealed(side.agent_config)
    revealed = await reveal_side(side, tools)
    return RevealedConfig(read_config(revealed.value), revealed.secrets)
