"""The config of one side with its templates rendered and its references resolved.

Templates see revealed variables; a reference in the config itself is set aside while templates
are rendered, so that neither a secret is taken for a template nor a template's text for a
reference: a version's own config, which whoever asks for a plan may write, names no secrets.
"""

import secrets
from collections.abc import Mapping
from typing import Any

from foretell.domain.context import Side, secret_reference
from foretell.kit.redactor import Redactor
from foretell.ports import AgentTools, Revealed

_REVEALED_VARIABLES = ("deployment", "environment", "resource", "variables")


async def reveal_side(side: Side, tools: AgentTools) -> Revealed:
    """The config that an agent of this side is to work with, and every secret that may be in it.

    Raises AgentRejected for a template or a reference that is wrong, without quoting a secret.
    """
    told = side.template_variables()
    variables = tools.secrets.reveal({name: told[name] for name in _REVEALED_VARIABLES})
    told |= variables.value
    told["release"] = {**told["release"], "variables": told["variables"]}
    aside = _Aside()
    with Redactor(variables.secrets).errors():
        rendered = await tools.templates.render(aside.put(dict(side.agent_config)), told)
    references = tools.secrets.reveal(aside.references)
    config = aside.back(rendered, references.value)
    return Revealed(config, variables.secrets | references.secrets)


class _Aside:
    """Keeps references out of a structure, under names that nobody can guess."""

    def __init__(self) -> None:
        self.references: dict[str, Any] = {}

    def put(self, value: Any) -> Any:
        """`value` with a name in place of each reference."""
        if isinstance(value, Mapping):
            if secret_reference(value):
                name = f"reference-{secrets.token_hex(16)}"
                self.references[name] = value
                return name
            return {key: self.put(each) for key, each in value.items()}
        return [self.put(each) for each in value] if isinstance(value, list | tuple) else value

    def back(self, value: Any, revealed: Mapping[str, Any]) -> Any:
        """`value` with what was revealed in place of each name."""
        if isinstance(value, Mapping):
            return {key: self.back(each, revealed) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.back(each, revealed) for each in value]
        return revealed.get(value, value) if isinstance(value, str) else value
