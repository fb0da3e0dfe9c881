"""The other side of `foretell.kit.sandbox`: limits itself, imports one function, answers calls.

Started for every kill, so it imports next to nothing. A frame is a length (4 bytes, big-endian)
and that many bytes of UTF-8 JSON; stdout belongs to frames alone.
"""

import importlib
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

# Enough for imports; the pipes are open already.
_OPEN_FILES = 32
_LENGTH_BYTES = 4


def main() -> None:
    """`argv`: target, memory bytes, CPU seconds a call, answer bytes."""
    target, memory, cpu_seconds, answer_bytes = sys.argv[1], *map(int, sys.argv[2:5])
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    _close_standard_streams()
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (value, value))
    allow_cpu_seconds(cpu_seconds)
    try:
        function = _load(target)
    except BaseException as error:
        return _send(answers, _failure(type(error).__name__, str(error)))
    _send(answers, b"{}")
    while (request := _receive(requests)) is not None:
        allow_cpu_seconds(cpu_seconds)
        _send(answers, _bounded(_answer(function, request), answer_bytes))


def allow_cpu_seconds(seconds: int) -> None:
    """That many more from now on; the kernel counts over the whole life of a warm child."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _close_standard_streams() -> None:
    """What a target prints or reads must not end up among the frames."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _load(target: str) -> Callable[[Any], Any]:
    module, _, name = target.partition(":")
    function: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    return function


def _answer(function: Callable[[Any], Any], request: bytes) -> bytes:
    try:
        return json.dumps({"value": function(json.loads(request))}).encode()
    except BaseException as error:
        return _failure(type(error).__name__, str(error)[:4000])


def _failure(kind: str, message: str) -> bytes:
    return json.dumps({"failure": {"type": kind, "message": message}}).encode()


def _bounded(answer: bytes, limit: int) -> bytes:
    return answer if len(answer) <= limit else _failure("AnswerTooLarge", "")


def _receive(stream: BinaryIO) -> bytes | None:
    head = stream.read(_LENGTH_BYTES)
    return stream.read(int.from_bytes(head, "big")) if len(head) == _LENGTH_BYTES else None


def _send(stream: BinaryIO, body: bytes) -> None:
    stream.write(len(body).to_bytes(_LENGTH_BYTES, "big") + body)
    stream.flush()
