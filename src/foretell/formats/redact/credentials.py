"""Credentials in text that nobody told us about: URLs, headers, signatures, key blocks.

For messages of other programs: what git, curl and cloud clients print when they fail.
"""

import re

MASK = "***"
_SHORTEST_TOKEN = 15

_WEB_USER = re.compile(r"\b(https?|git|ssh\+git|git\+https?)://[^/\s?#\"'<>]+@", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"\b([a-z][a-z0-9+.-]{0,20})://([^:/\s@\"'<>]*):[^/\s\"'<>]+@", re.I)
_HEADER = re.compile(
    r"\b((?:proxy-)?authorization|x-api-key|private-token|x-vault-token|cookie)"
    r"([\"']?\s*[:=]\s*[\"']?)(?:(?:bearer|basic|token)\s+)?[^\s\"',;]+",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"([?&](?:[\w-]*(?:signature|token|credential|secret|password|api_?key)|sig|key)=)[^&\s\"'<>#]+",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}"
    r"|[A-Za-z0-9]{10,20}\.atlasv1\.[\w-]{20,}|hvs\.[\w-]{20,}"
    r"|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})"
)
_KEY_BLOCK = re.compile(
    r"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?(?:-----END \1-----|\Z)", re.DOTALL
)


def hide_credentials(text: str) -> str:
    """The text with `***` for URL users and passwords, auth headers, signatures, well-known
    tokens and private key blocks. `https://token@host` loses its whole user part, other schemes
    only the password: the user of a database is a help, the user of a git URL a token."""
    # Each pattern behind the cheapest test that rules it out: most values hold none of these.
    if "://" in text and "@" in text:
        text = _WEB_USER.sub(rf"\1://{MASK}@", text)
        text = _URL_PASSWORD.sub(rf"\1://\2:{MASK}@", text)
    if "=" in text and ("?" in text or "&" in text):
        text = _QUERY.sub(rf"\1{MASK}", text)
    if ":" in text or "=" in text:
        text = _HEADER.sub(rf"\1\2{MASK}", text)
    if "_" in text or "-" in text or "." in text:
        text = _TOKEN.sub(MASK, text) if len(text) > _SHORTEST_TOKEN else text
    return _KEY_BLOCK.sub(MASK, text) if "-----BEGIN" in text else text
