"""What the steps of one invocation share, and the step that is next."""

from dataclasses import dataclass, field
from datetime import timedelta

from foretell.agents.terraform_cloud.answer import Secrets
from foretell.agents.terraform_cloud.attempts import Attempts
from foretell.agents.terraform_cloud.client import Client
from foretell.agents.terraform_cloud.config import TerraformCloudConfig
from foretell.agents.terraform_cloud.progress import Progress
from foretell.agents.terraform_cloud.source import Sources
from foretell.domain.context import DispatchContext, Side
from foretell.domain.result import Pending
from foretell.ports import Clock


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its config revealed, and whom to ask."""

    client: Client
    config: TerraformCloudConfig
    context: DispatchContext
    side: Side
    secrets: Secrets = field(repr=False)
    sources: Sources
    clock: Clock
    attempts: Attempts

    def pending(self, progress: Progress, after: timedelta, message: str) -> Pending:
        """Not yet; the state says which call left it behind."""
        return Pending(progress.moved(asked=self.context.attempt).as_state(), after, message)
