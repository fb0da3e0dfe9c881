"""The plan as JSON, through every answer that an implementation of the API gives.

Whole, then redacted, then not at all: 200 with the body, 204 not yet, 302 or 307 to another host,
403 and 404 not for this token, 422 too old a Terraform.
"""

import asyncio
from dataclasses import dataclass, field
from enum import Enum, auto

from foretell.agents.terraform_cloud.client import Client
from foretell.agents.terraform_cloud.outside import REDIRECTS
from foretell.agents.terraform_cloud.said import failure, said
from foretell.domain.errors import AgentRejected, AgentUnavailable, InvalidRequest
from foretell.formats.tfplan.parse import parse
from foretell.formats.tfplan.plan import Plan
from foretell.kit.http import Answer

WHOLE = "json-output"
REDACTED = "json-output-redacted"
_EXPIRED = (400, 403, 404, 410)


class Missing(Enum):
    """Why a form of the plan is not there."""

    NOT_YET = auto()
    FORBIDDEN = auto()
    TOO_OLD = auto()
    EMPTY = auto()


_TOLD = {
    Missing.FORBIDDEN: (
        "the full plan may not be read with this token (that takes admin access to the workspace)"
    ),
    Missing.TOO_OLD: "this version of Terraform has no plan as JSON",
    Missing.EMPTY: "the full plan is empty",
    Missing.NOT_YET: "the full plan was not there in time",
}


@dataclass(frozen=True, slots=True)
class Output:
    """`plan` None: neither form is to be had. `note` says what is missing, "" for nothing."""

    plan: Plan | None = field(repr=False)
    note: str = ""


async def read_output(client: Client, plan_id: str, *, wait: bool) -> Output | None:
    """None while the server is still writing it and `wait` says that there is time for that."""
    whole = await _read(client, plan_id, WHOLE)
    if isinstance(whole, Plan):
        return Output(whole)
    if whole is Missing.NOT_YET and wait:
        return None
    redacted = await _read(client, plan_id, REDACTED)
    if isinstance(redacted, Plan):
        return Output(redacted, f"{_TOLD[whole]}: shown in its redacted form, without a plan hash")
    if redacted is Missing.NOT_YET and wait:
        return None
    return Output(None, f"{_TOLD[whole]}, and there is no redacted form of it either")


async def _read(client: Client, plan_id: str, form: str) -> Plan | Missing:
    attempted = f"{form} of {plan_id}"
    answer = await client.call("GET", f"plans/{plan_id}/{form}")
    if answer.status in REDIRECTS:
        answer = await _followed(client, plan_id, form, answer)
    match answer.status:
        case 204 | 202:
            return Missing.NOT_YET
        case 403 | 404:
            return Missing.FORBIDDEN
        case 422:
            return Missing.TOO_OLD
        case 200:
            return await asyncio.to_thread(_parsed, answer, attempted)
        case _:
            raise failure(answer, attempted)


async def _followed(client: Client, plan_id: str, form: str, answer: Answer) -> Answer:
    """What the address gives that the answer led to; it is good for a minute, so asked for twice
    where it had passed."""
    attempted = f"{form} of {plan_id}"
    for _ in range(2):
        if answer.status not in REDIRECTS:
            return answer
        location = answer.headers.get("location", "")
        found = await client.outside.get(location, attempted, secure=client.secure)
        if found.status == 200:
            return found
        if found.status not in _EXPIRED:
            raise failure(found, attempted)
        answer = await client.call("GET", f"plans/{plan_id}/{form}")
    raise AgentUnavailable(f"{attempted}: the address that the server gave led to nothing")


def _parsed(answer: Answer, attempted: str) -> Plan | Missing:
    if answer.body.strip() in (b"", b"{}", b"null"):
        return Missing.EMPTY
    try:
        return parse(answer.body)
    except InvalidRequest as error:
        if answer.body.lstrip()[:1] != b"{":
            raise AgentUnavailable(f"{attempted}: {said(answer)}") from error
        raise AgentRejected(f"{attempted}: {error.message}") from error
