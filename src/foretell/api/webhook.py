"""GitHub's deliveries: who signed them, and what of them is kept.

Source: GitHub's documentation "Validating webhook deliveries" (HMAC-SHA-256 of the body as it was
sent, in hex) and "Webhook events and payloads" (25 MB at most).
"""

import hashlib
import hmac
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from tempfile import SpooledTemporaryFile

from fastapi import HTTPException
from pydantic import SecretStr

from foretell.api.body import parsed_object
from foretell.domain.errors import InvalidRequest, Problem
from foretell.engine.pull_request import MEMORY
from foretell.formats.pull_request.event import Event, Moved, PlanAsked, read_event, subject
from foretell.ports import Delivery, Job, Step, Tx

MAX_BYTES = 25_000_000
_IN_MEMORY_BYTES = 1_000_000
SIGNATURE = "X-Hub-Signature-256"
_SIGNED = re.compile(r"sha256=[0-9a-f]{64}\Z")
_WORD = re.compile(r"[!-~]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class Webhook:
    """The secret that GitHub signs with. Raises InvalidRequest for an empty one."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not self.secret.strip():
            # Anybody could sign with it.
            raise InvalidRequest("the webhook's secret is empty: give one, or none at all")

    def check_shape(self, signature: str | None) -> str:
        """The signature, if it can be one; 401 before a byte of the body is read."""
        if signature is None or not _SIGNED.match(signature):
            raise HTTPException(401, f"expected {SIGNATURE}: sha256=… as GitHub sends it")
        return signature

    async def read(self, chunks: AsyncIterator[bytes], signature: str) -> bytes:
        """The body, once it is known to be signed with the secret; 401 where it is not.

        Until then it may be anybody's: what is large of it waits on disk, not in memory.
        """
        seal = hmac.new(self.secret, digestmod=hashlib.sha256)
        with SpooledTemporaryFile(_IN_MEMORY_BYTES) as kept:
            async for chunk in chunks:
                seal.update(chunk)
                kept.write(chunk)
            if not hmac.compare_digest(f"sha256={seal.hexdigest()}".encode(), signature.encode()):
                raise HTTPException(401, "the signature is not that of this body and our secret")
            kept.seek(0)
            return kept.read()


def webhook_of(secret: SecretStr | None) -> Webhook | None:
    """The webhook of the settings; without a secret there is none."""
    return None if secret is None else Webhook(secret.get_secret_value().encode())


def read_delivery(id: str, name: str, body: bytes, now: datetime) -> Delivery | None:
    """What is to be kept of a signed body; None where it asks for nothing.

    An event so old that a replay of it would no longer be known as one asks for nothing either.
    Raises InvalidRequest that names the field, or the header.
    """
    for header, value in (("X-GitHub-Delivery", id), ("X-GitHub-Event", name)):
        if not _WORD.match(value):
            message = f"expected {header} as GitHub sends it"
            raise InvalidRequest(message, [Problem("header", header, message)])
    event = read_event(name, parsed_object(body))
    if event is None or _told_at(event, now) < now - MEMORY:
        return None
    return Delivery(id, hashlib.sha256(body).hexdigest(), subject(event), event, now)


def _told_at(event: Event, now: datetime) -> datetime:
    match event:
        case Moved():
            return event.pull_request.updated_at
        case PlanAsked():
            return event.asked_at
        case _:
            return now


async def receive(tx: Tx, delivery: Delivery) -> bool:
    """Keep it and wake whoever sees to it, in one commit; False where it came in before."""
    is_new = await tx.receive(delivery)
    if is_new:
        await tx.enqueue([Job(Step.PULL_REQUEST, delivery.subject)])
    return is_new
