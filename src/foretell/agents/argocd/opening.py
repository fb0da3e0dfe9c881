"""One side's config, revealed and read, with the Application that its template makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from foretell.agents.argocd.application import Desired, at_commit, read_template
from foretell.agents.argocd.config import ArgoCdConfig, check_unrevealed, read_config
from foretell.domain.context import Side
from foretell.domain.errors import AgentRejected, AgentUnavailable, Forbidden, Unavailable
from foretell.inventory.reveal import reveal_side
from foretell.kit.redactor import Redactor
from foretell.ports import AgentTools


@dataclass(frozen=True, slots=True)
class Opened:
    """`redactor` takes out of texts what references of this side resolve to."""

    config: ArgoCdConfig
    wanted: Desired
    redactor: Redactor = field(repr=False)


async def open_side(side: Side, tools: AgentTools) -> Opened:
    """Raises AgentRejected for a template, a reference or a key that is wrong."""
    check_unrevealed(side.agent_config)
    with Redactor(()).errors():
        revealed = await reveal_side(side, tools)
    redactor = Redactor(revealed.secrets)
    with redactor.errors():
        config = read_config(revealed.value)
        wanted = read_template(config.template)
        if at := config.revision:
            wanted = at_commit(wanted, at.repository, at.commit)
        return Opened(config, wanted, redactor)


@contextmanager
def told_by(redactor: Redactor, prefix: str = "") -> Iterator[None]:
    """Errors leave as those of an agent, redacted, and say whether asking again helps."""
    with redactor.errors(prefix):
        try:
            yield
        except Unavailable as error:
            raise AgentUnavailable(error.message) from error
        except Forbidden as error:
            raise AgentRejected(error.message, reason="forbidden") from error
