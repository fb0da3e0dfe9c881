"""Ending a run that nobody waits for: cancel, else discard, and 409 means look again."""

from typing import Final

from foretell.agents.terraform_cloud.client import Client

COMMENT: Final = "nobody waits for this plan any more"
_MOST_LOOKS: Final = 3


async def stop(client: Client, run_id: str, comment: str = COMMENT) -> bool:
    """Whether the run has ended or was told to; twice is once, and gone is ended."""
    for _ in range(_MOST_LOOKS):
        run = await client.run(run_id)
        if run is None or run.ended:
            return True
        only_discard = run.discardable and not run.cancelable
        for action in ("discard",) if only_discard else ("cancel", "discard"):
            if await client.act(run_id, action, comment):
                return True
    return False
