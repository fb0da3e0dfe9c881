"""`python -m foretell.api.openapi > docs/reference/openapi.json`: the description, for people."""

import sys

import orjson

from foretell.api.app import describe_app


def described() -> bytes:
    """OpenAPI 3.1 as the file has it: sorted, indented, so that a change is a small diff."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(describe_app().openapi(), option=options)


if __name__ == "__main__":
    sys.stdout.buffer.write(described())
