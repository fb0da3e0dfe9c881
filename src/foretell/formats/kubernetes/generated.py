"""Names for objects that the server names (`metadata.generateName`).

Equal content on several sides gets the same number, whatever the order of documents; what is left
is numbered in the order of its text.
"""

from collections import defaultdict
from dataclasses import replace

from foretell.formats.kubernetes.identity import Identity
from foretell.formats.kubernetes.stream import Manifest, Stream
from foretell.formats.yaml import dump

Key = tuple[Identity, str]


def with_names(streams: list[Stream]) -> list[Stream]:
    """The streams of one comparison with every object named."""
    if all(manifest.identity.name for stream in streams for manifest in stream.manifests):
        return streams
    numbers: dict[Key, dict[str, list[int]]] = defaultdict(dict)
    return [_named(stream, numbers) for stream in streams]


def _named(stream: Stream, numbers: dict[Key, dict[str, list[int]]]) -> Stream:
    waiting: dict[Key, list[tuple[str, Manifest]]] = defaultdict(list)
    for manifest in stream.manifests:
        if not manifest.identity.name:
            prefix = str(manifest.value["metadata"]["generateName"])
            waiting[manifest.identity, prefix].append((dump(manifest.value), manifest))
    named = [manifest for manifest in stream.manifests if manifest.identity.name]
    for key, found in waiting.items():
        found.sort(key=lambda pair: pair[0])
        given = _given([text for text, _ in found], numbers[key])
        named += [
            replace(manifest, identity=_identity(*key, number))
            for number, (_, manifest) in zip(given, found, strict=True)
        ]
    return replace(stream, manifests=tuple(named))


def _given(texts: list[str], known: dict[str, list[int]]) -> list[int]:
    """A number for each text: that of equal text elsewhere, else the lowest not taken."""
    left = {text: list(numbers) for text, numbers in known.items()}
    given = [left[text].pop(0) if left.get(text) else 0 for text in texts]
    free = (number for number in range(1, len(texts) + 1) if number not in set(given))
    given = [number or next(free) for number in given]
    if not known:
        for text, number in zip(texts, given, strict=True):
            known.setdefault(text, []).append(number)
    return given


def _identity(identity: Identity, prefix: str, number: int) -> Identity:
    return identity._replace(name=f"{prefix}<generated{'' if number == 1 else f' {number}'}>")
