"""Which variables of the server's environment a program gets: those named, and nothing else."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from foretell.domain.errors import AgentRejected
from foretell.formats.redact.names import DEFAULT_NAMES
from foretell.ports import Secrets

_HARMLESS: Final = re.compile(
    r"(?:.*_)?(?:REGION|LOCATION|ZONE|PROFILE|PROJECT|HOME|USER|USERNAME|LANG|TZ|PATH|DIR|FILE"
    r"|SOCK|LOG|NAME|NO_PROXY|KUBECONFIG)"
)
"""Names of what is no secret and stands in every plan: `eu-west-1` hidden would hide it all."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The variables, and which of their values are taken for secrets."""

    variables: dict[str, str] = field(repr=False)
    secrets: frozenset[str] = field(repr=False)


def passed(names: Sequence[str], secrets: Secrets, allowed: Collection[str] | None) -> Passed:
    """`allowed` None: any, on a person's own command line.

    Raises AgentRejected that names each variable that may not be passed, or is not set.
    """
    wrong = [name for name in names if allowed is not None and name not in allowed]
    if wrong:
        raise AgentRejected(
            f"env: {', '.join(wrong)} may not be let through to the program: a server lets those "
            "through that the setting terraform_env names"
        )
    variables = {name: secrets.reveal({"env": name}).value for name in names}
    hidden = frozenset(value for name, value in variables.items() if _is_secret(name))
    return Passed(variables, hidden)


def _is_secret(name: str) -> bool:
    return _HARMLESS.fullmatch(name.upper()) is None or DEFAULT_NAMES.hides(name)
