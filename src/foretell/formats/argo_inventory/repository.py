"""Whether two texts name one git repository: Argo CD's addresses come in many spellings."""

import re

_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.*)", re.DOTALL)
_URL = re.compile(r"([a-z+]+)://(?:[^@/\s]*@)?([^/]*)(/.*)?", re.DOTALL | re.IGNORECASE)
_SHORT = re.compile(r"[\w.-]+(?:/[\w.-]+)+")


def same_repository(wanted: str, address: str) -> bool:
    """`wanted` is OWNER/NAME on any server, or an address in any of git's spellings.

    User names, ports, a `.git` at the end and upper case make no difference, as in Argo CD's own
    comparison; an SSH address is the same as an HTTPS one of that server.
    """
    host, path = _parts(address)
    wanted_host, wanted_path = ("", _path(wanted)) if _SHORT.fullmatch(wanted) else _parts(wanted)
    return path == wanted_path and (not wanted_host or wanted_host == host)


def _parts(address: str) -> tuple[str, str]:
    address = address.strip()
    if found := _URL.fullmatch(address):
        return found[2].partition(":")[0].lower(), _path(found[3] or "")
    if found := _SCP.fullmatch(address):
        return found[1].lower(), _path(found[2])
    return "", _path(address)


def _path(text: str) -> str:
    return text.strip("/").removesuffix(".git").lower()
