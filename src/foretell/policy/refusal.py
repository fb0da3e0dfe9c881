"""How a rule is refused when it is saved: policy, rule, line and cause."""

from collections.abc import Iterable, Sequence

from foretell.domain.errors import InvalidRequest
from foretell.domain.errors import Problem as Place
from foretell.domain.verdict import Rule
from foretell.policy.outline import Problem


def refuse(found: Iterable[tuple[Rule, Sequence[Problem]]]) -> None:
    """Raises InvalidRequest that names every problem; nothing for rules without any."""
    places = [
        Place(f"{rule.policy}/{rule.name}:{problem.line or 1}", "rego", problem.message)
        for rule, problems in found
        for problem in problems
    ]
    if places:
        how_many = "one place" if len(places) == 1 else f"{len(places)} places"
        raise InvalidRequest(f"the rules can't be used, for {how_many}", places)
