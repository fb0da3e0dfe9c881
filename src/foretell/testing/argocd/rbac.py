"""Who may do what: the lines of Argo CD's `policy.csv`, with its globs.

Source: docs/operator-manual/rbac.md of argoproj/argo-cd.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Policy:
    """`p, <subject>, <resource>, <action>, <object>, allow|deny`."""

    subject: str
    resource: str
    action: str
    object: str
    allows: bool = True

    def fits(self, resource: str, action: str, object: str) -> bool:
        """Whether it speaks of this call; `*` in it crosses "/" as it does in Argo CD."""
        asked = ((resource, self.resource), (action, self.action), (object, self.object))
        return all(fnmatchcase(given, pattern) for given, pattern in asked)


ADMIN = (Policy("role:admin", "*", "*", "*"),)


def read_policies(csv: str) -> list[Policy]:
    """The `p` lines. Raises ValueError for a line that is none, `g` lines and comments aside."""
    found = []
    for line in csv.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if not parts[0] or parts[0].startswith("#") or parts[0] == "g":
            continue
        if len(parts) != 6 or parts[0] != "p" or parts[5] not in ("allow", "deny"):
            raise ValueError(f"no policy: {line}")
        found.append(Policy(parts[1], parts[2], parts[3], parts[4], parts[5] == "allow"))
    return found


def permitted(policies: Iterable[Policy], resource: str, action: str, object: str) -> bool:
    """A denial wins over any permission."""
    fitting: Sequence[Policy] = [each for each in policies if each.fits(resource, action, object)]
    return bool(fitting) and all(each.allows for each in fitting)
