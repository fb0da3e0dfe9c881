"""References to secrets -> their values, at the last moment and only in memory.

`{env: NAME}` and `{file: PATH}` stand wherever a value may stand; what is stored, shown or logged
holds the reference.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from foretell.domain.context import secret_reference
from foretell.domain.errors import AgentRejected
from foretell.ports import Revealed

_OWN_PREFIX = "FORETELL_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FILE_BYTES = 1024 * 1024  # Kubernetes' own limit for a Secret


class References:
    """The Secrets port over this program's environment and files.

    `roots`: the folders whose files may be named (None: any, for a person's own command line);
    links are resolved first. Variables of the server itself (`FORETELL_…`) are no one's to name.
    """

    def __init__(self, environ: Mapping[str, str], roots: Sequence[Path] | None) -> None:
        self._environ = environ
        self._roots = None if roots is None else [root.resolve() for root in roots]

    def reveal(self, value: Any) -> Revealed:
        """`value` with every reference in it resolved, and the texts that came in.

        A file's single last line end is not part of its value. Raises AgentRejected that names
        the reference that is missing, or may not be named.
        """
        found: set[str] = set()
        return Revealed(self._resolved(value, found), frozenset(found))

    def _resolved(self, value: Any, found: set[str]) -> Any:
        if isinstance(value, Mapping):
            if reference := secret_reference(value):
                text = self._text(*reference)
                found.add(text)
                return text
            return {key: self._resolved(each, found) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._resolved(each, found) for each in value]
        return value

    def _text(self, kind: str, name: str) -> str:
        text = self._variable(name) if kind == "env" else self._file(name)
        if not text:
            raise AgentRejected(f"the secret {{{kind}: {name}}} is empty: give it a value")
        return text

    def _variable(self, name: str) -> str:
        if not _NAME.match(name) or name.startswith(_OWN_PREFIX):
            raise AgentRejected(
                f"the secret {{env: {name}}} may not be named: expected the name of an environment "
                f"variable that does not begin with {_OWN_PREFIX}"
            )
        if name not in self._environ:
            raise AgentRejected(
                f"the secret {{env: {name}}} is missing: set this environment variable where the "
                "plan runs (on every worker)"
            )
        return self._environ[name]

    def _file(self, name: str) -> str:
        path = Path(name).expanduser()
        if not path.is_absolute() or not self._allowed(path):
            raise AgentRejected(
                f"the secret {{file: {name}}} may not be named: expected the full path of a file "
                "below a configured folder of secrets"
            )
        try:
            with path.open("rb") as file:
                content = file.read(_FILE_BYTES + 1)
            if len(content) > _FILE_BYTES:
                raise AgentRejected(f"the secret {{file: {name}}} is over {_FILE_BYTES:,} bytes")
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise AgentRejected(f"the secret {{file: {name}}} is not UTF-8 text") from None
        except OSError as error:
            raise AgentRejected(
                f"the secret {{file: {name}}} can't be read where the plan runs "
                f"({os.strerror(error.errno or 0)})"
            ) from error
        return text.removesuffix("\n").removesuffix("\r")

    def _allowed(self, path: Path) -> bool:
        if self._roots is None:
            return True
        resolved = path.resolve()
        return any(resolved.is_relative_to(root) for root in self._roots)
