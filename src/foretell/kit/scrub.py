"""Takes credentials out of what programs and libraries print, before a person reads it.

What plans are cleaned of, and beside it what only programs print. By shape only: what has no known
shape (a password alone on a line) is for the caller to redact, who knows the value.
"""

import re
from collections.abc import Callable
from typing import Final

from foretell.formats.redact.credentials import hide_credentials

MASK: Final = "***"

_HEADER_NAMES: Final = (
    r"(?:proxy-)?authorization|private-token|job-token|x-api-key|x-vault-token|x-auth-token"
    r"|(?:set-)?cookie"
)
_QUERY_NAMES: Final = (
    r"access_token|private_token|refresh_token|id_token|token|api_?key|client_secret|password"
    r"|sig|signature|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature"
)

# Each with what stays of it. Every repetition is bounded or stops at a delimiter, so that the time
# is linear in the text: it comes from outside.
_RULES: Final[tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...]] = (
    # https://user:word@host; a word may hold an "@", so the last one before the path ends it
    (re.compile(r"(://)[^\s/?#'\"<>]{1,2048}@"), rf"\1{MASK}@"),
    # a word that was not percent-encoded and holds a "/": then what follows ":" is no port
    (re.compile(r"(://)[^\s/:@]{0,256}:(?!\d{1,5}(?:[/\s]|$))[^\s@]{1,512}@"), rf"\1{MASK}@"),
    (
        re.compile(
            rf"(?i)\b((?:{_HEADER_NAMES})\b[\"']?[ \t]*[:=][ \t]*[\"']?)"
            r"[^\s\"'][^\r\n\"']{0,8192}"
        ),
        rf"\1{MASK}",
    ),
    (
        re.compile(r"(?i)\b(bearer|basic|negotiate)[ \t]+[a-z0-9._~+/-]{8,8192}={0,2}"),
        rf"\1 {MASK}",
    ),
    (re.compile(rf"(?i)([?&;](?:{_QUERY_NAMES})=)[^\s&#;\"'<>]{{1,8192}}"), rf"\1{MASK}"),
    # GitHub, GitLab, Slack, AWS, HCP Terraform, JSON Web Tokens
    (re.compile(r"\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-)[\w-]{6,255}"), MASK),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), MASK),
    (re.compile(r"\b[A-Za-z0-9]{8,20}\.atlasv1\.[\w-]{20,128}"), MASK),
    (re.compile(r"\beyJ[\w-]{8,4096}\.[\w-]{4,8192}\.[\w-]{0,2048}"), MASK),
)


def scrub(text: str) -> str:
    """`text` with userinfo, credential headers, signed query parameters and known tokens masked.

    `https://u:ghp_x@host/r.git` becomes `https://***@host/r.git`. Idempotent.
    """
    text = hide_credentials(text)
    for pattern, kept in _RULES:
        text = pattern.sub(kept, text)
    return text


def tail(output: bytes | str, limit: int = 2000) -> str:
    """The last `limit` characters of what a program printed, from a line's start, scrubbed.

    Programs put the reason last. Scrubbed before it is cut, so that no half of a token is left.
    """
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    text = scrub(text).strip()
    if len(text) <= limit:
        return text
    cut = text[-limit:]
    return "… " + (cut.split("\n", 1)[1] if "\n" in cut else cut)
