"""The files of a repository at one commit, as those see them who only ask for names and texts."""

import posixpath
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence


class Tree:
    """`files` are all paths from the root, `links` those among them that lead elsewhere.

    `read` gives a file's text; None where it is none.
    """

    def __init__(
        self,
        files: Iterable[str],
        read: Callable[[str], str | None],
        links: Mapping[str, str] | None = None,
    ) -> None:
        self._files = sorted(files)
        self._known = frozenset(self._files)
        self._read = read
        self._links = dict(links or {})

    def below(self, folder: str) -> Sequence[str]:
        """The files in `folder` and its subfolders, "" being the root."""
        if not folder:
            return self._files
        first = bisect_left(self._files, f"{folder}/")
        return self._files[first : bisect_left(self._files, f"{folder}0")]  # "0" follows "/"

    def is_file(self, path: str) -> bool:
        """Whether there is this file."""
        return path in self._known

    def is_folder(self, path: str) -> bool:
        """Whether there is a file below this folder."""
        return bool(self.below(path))

    def text(self, path: str) -> str | None:
        """The file's text; None for one that is not there or is no text."""
        return self._read(path) if path in self._known else None

    def links(self, place: str) -> Iterable[str]:
        """Where the links at, below or above `place` lead; of one above, with what follows it."""
        inside = f"{place}/" if place else ""
        for path, target in self._links.items():
            leads = posixpath.join(posixpath.dirname(path), target)
            if path == place or path.startswith(inside):
                yield posixpath.normpath(leads)
            elif place.startswith(f"{path}/"):
                yield posixpath.normpath(leads + place.removeprefix(path))
