"""One ignore rule as people write it, in an inventory or in a file of its own."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from foretell.domain.target import IgnoreEntry

WHAT = ("pointers", "names", "jq")


class IgnorePart(BaseModel):
    """What is not to count (`pointers`, `names`, `jq`), and for which objects (globs)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    pointers: list[str] = Field(default=[])
    names: list[str] = Field(default=[])
    jq: list[str] = Field(default=[])
    group: str = "*"
    kind: str = "*"
    namespace: str = "*"
    name: str = "*"

    def entry(self) -> IgnoreEntry:
        """In the domain's words."""
        return IgnoreEntry(
            pointers=tuple(self.pointers),
            names=tuple(self.names),
            jq=tuple(self.jq),
            group=self.group,
            kind=self.kind,
            namespace=self.namespace,
            name=self.name,
        )

    def complaints(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """What is wrong with it, each with where; whether jq is jq, only jq knows."""
        if not (self.pointers or self.names or self.jq):
            yield (), f"ignores nothing; expected at least one of {', '.join(WHAT)}"
        for index, pointer in enumerate(self.pointers):
            if not pointer.startswith("/") or pointer == "/":
                yield (
                    ("pointers", index),
                    "expected a JSON pointer to a field, such as /spec/replicas or /data/*",
                )
