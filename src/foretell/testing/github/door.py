"""Who calls the fake: an App by its signed claims, or a token, and what each may."""

from collections.abc import Sequence

import jwt

from foretell.testing.github.state import Actor, App, Refused
from foretell.testing.github.world import World

_LONGEST_JWT = 600
_LEVELS = ("", "read", "write", "admin")


def actor(world: World, authorization: str) -> Actor:
    """Raises Refused 401 for everybody whom GitHub doesn't know."""
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() not in ("bearer", "token") or not credential:
        raise Refused(401, "Requires authentication")
    if credential.count(".") == 2:
        return _app(world, credential)
    found = world.tokens.get(credential)
    expired = world.clock.now().timestamp() >= world.expiries.get(credential, float("inf"))
    if found is None or expired:
        raise Refused(401, "Bad credentials")
    return found


def _app(world: World, signed: str) -> Actor:
    for app in world.apps.values():
        for key in app.keys:
            try:
                claims = jwt.decode(
                    signed,
                    key,
                    algorithms=["RS256"],
                    options={"verify_exp": False, "verify_iat": False},
                )
            except jwt.PyJWTError:
                continue
            return _claimed(world, app, claims)
    raise Refused(401, "A JSON web token could not be decoded")


def _claimed(world: World, app: App, claims: dict[str, object]) -> Actor:
    now = world.clock.now().timestamp()
    issued, expires = float(str(claims["iat"])), float(str(claims["exp"]))
    if str(claims.get("iss")) != str(app.id):
        raise Refused(401, "'Issuer' claim ('iss') must be the App's id")
    if issued > now:
        raise Refused(401, "'Issued at' claim ('iat') must be an Integer in the past")
    if not now < expires <= now + _LONGEST_JWT:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    return Actor(app.slug, {}, account=f"app {app.id}", app=app.id, is_app_itself=True)


def check_permission(who: Actor, needs: Sequence[tuple[str, str]]) -> None:
    """Raises Refused 403 as GitHub does, naming what would have been enough."""
    if not needs or (who.app is None and not who.permissions):
        return
    for name, level in needs:
        if _LEVELS.index(who.permissions.get(name, "")) >= _LEVELS.index(level):
            return
    refused = Refused(403, "Resource not accessible by integration")
    named = "; ".join(f"{name}={level}" for name, level in needs)
    refused.headers["x-accepted-github-permissions"] = named
    raise refused
