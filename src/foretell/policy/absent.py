"""No rule engine is installed: a rule is refused when saved, and never counts as passed."""

from collections.abc import Sequence

from foretell.domain.errors import InvalidRequest
from foretell.domain.plan import JsonObject
from foretell.domain.verdict import Rule, Verdict, errored

_CAUSE = "no rule engine is installed on this server"


class NoEngine:
    """The Validator of a server without an engine."""

    async def check(self, rules: Sequence[Rule]) -> None:
        """Raises InvalidRequest for any rule at all."""
        if rules:
            raise InvalidRequest(
                f"rule {rules[0].name!r} of policy {rules[0].policy!r} can't be judged: {_CAUSE}"
            )

    async def evaluate(self, rules: Sequence[Rule], document: JsonObject) -> Sequence[Verdict]:
        """Every rule errored: a gate that can't be asked is not passed."""
        return errored(rules, _CAUSE)
