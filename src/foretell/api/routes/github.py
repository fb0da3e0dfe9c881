"""What GitHub tells: pull requests are planned without a pipeline (RFC 0004)."""

from typing import Annotated

from fastapi import APIRouter, Header, HTTPException, Request, Response, Security
from fastapi.security import APIKeyHeader

from foretell.api.body import body_chunks, media_type
from foretell.api.schemas.answers import problems
from foretell.api.services import Services, services_of
from foretell.api.webhook import MAX_BYTES, SIGNATURE, Webhook, read_delivery, receive

router = APIRouter(prefix="/v1/github", tags=["github"])

_signature = APIKeyHeader(
    name=SIGNATURE,
    scheme_name="GithubSignature",
    description="`sha256=` and the HMAC-SHA-256 of the body in hex.",
    auto_error=False,
)
_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


@router.post(
    "/webhook",
    operation_id="receiveGithubEvent",
    summary="Take an event of GitHub's",
    status_code=202,
    responses={
        202: {"description": "It is kept, and seen to from the queue.", "content": None},
        204: {"description": "It asks for nothing, or came in before."},
        **problems(401, 404, 413, 415, 422, 503),
    },
    response_class=Response,
    openapi_extra=_BODY,
)
async def receive_event(
    request: Request,
    signature: Annotated[str | None, Security(_signature)],
    event: Annotated[str, Header(alias="X-GitHub-Event")] = "",
    delivery: Annotated[str, Header(alias="X-GitHub-Delivery")] = "",
) -> Response:
    """Events `pull_request`, `issue_comment`, `check_run` and `check_suite`; others are 204.

    404 where no secret is set. Nothing is parsed before the signature is checked.
    """
    services = services_of(request)
    body = await _signed_body(request, _configured(services), signature)
    found = read_delivery(delivery, event, body, services.clock.now())
    if found is None:
        return Response(status_code=204)
    async with services.store.begin() as tx:
        is_new = await receive(tx, found)
    return Response(status_code=202 if is_new else 204)


def _configured(services: Services) -> Webhook:
    if services.webhook is None:
        raise HTTPException(404)
    return services.webhook


async def _signed_body(request: Request, webhook: Webhook, shown: str | None) -> bytes:
    signature = webhook.check_shape(shown)
    body = await webhook.read(body_chunks(request, MAX_BYTES), signature)
    if media_type(request) != "application/json":
        raise HTTPException(415, "let GitHub send application/json: the webhook's content type")
    return body
