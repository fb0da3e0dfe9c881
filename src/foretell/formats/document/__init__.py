"""The plan as JSON (RFC 0004 "API"), and back.

The API serves it, `foretell plan` on a server reads it: what it leaves out nobody sees. Keys are
camelCase, times RFC 3339 in UTC.
"""

from foretell.formats.document.decode import read_changes, read_report
from foretell.formats.document.encode import (
    DiffMode,
    change_document,
    encode,
    encode_report,
    report_document,
    summary_document,
    target_document,
)

__all__ = [
    "DiffMode",
    "change_document",
    "encode",
    "encode_report",
    "read_changes",
    "read_report",
    "report_document",
    "summary_document",
    "target_document",
]
