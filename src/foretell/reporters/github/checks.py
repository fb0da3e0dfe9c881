"""Check runs, or commit statuses where the credentials are no App's: one writer for both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from foretell.domain.digest import digest
from foretell.domain.errors import NotFound
from foretell.domain.summary import Conclusion
from foretell.formats.markdown import DESCRIPTION_LIMIT, NAME_LIMIT, Annotation, Check, short
from foretell.ports.memory import ShownCheck
from foretell.reporters.github.auth import Repository
from foretell.reporters.github.client import Github

ANNOTATIONS_A_CALL = 50
"""More in one call are refused (REST docs, "Check runs")."""
CANCELLED = Check(
    "Superseded",
    "A newer plan took the place of this one before it was done.",
    "",
    Conclusion.CANCELLED,
)


class CheckWriter(Protocol):
    """Brings what GitHub shows for one check to what it should be."""

    async def write(self, shown: ShownCheck, name: str, check: Check) -> ShownCheck:
        """What is shown now; nothing is sent where that is the same, or would be progress only."""


@dataclass(frozen=True, slots=True)
class CheckRuns:
    """REST docs, "Check runs"."""

    github: Github
    repository: Repository

    async def write(self, shown: ShownCheck, name: str, check: Check) -> ShownCheck:
        """In progress it is written once, so that a check costs two calls and not hundreds."""
        body = _run(shown, name, check)
        wanted = digest("check1", body)[-32:]
        if wanted == shown.digest or (check.conclusion is None and _is_shown(shown)):
            return shown
        written = await self._written(shown, name, body)
        check_id = int(written["id"])
        if check.conclusion is not None:
            await self._annotate(check_id, check, int(written["output"]["annotations_count"]))
        return ShownCheck(
            shown.external_id, shown.commit, name, check_id, wanted, check.conclusion is None
        )

    async def _annotate(self, check_id: int, check: Check, known: int) -> None:
        """GitHub adds what is sent to what is there, which is so never sent again."""
        rest = check.annotations[known:]
        for first in range(0, len(rest), ANNOTATIONS_A_CALL):
            some = [_annotation(one) for one in rest[first : first + ANNOTATIONS_A_CALL]]
            output = {**_output(check), "annotations": some}
            await self.github.add(self.repository, f"check-runs/{check_id}", {"output": output})

    async def _written(self, shown: ShownCheck, name: str, body: Mapping[str, Any]) -> Any:
        known = shown.check_id
        if known is None and shown.name:
            # Its making was begun and not heard of.
            known = await self._found(shown, name)
        if known is not None:
            try:
                return await self.github.patch(self.repository, f"check-runs/{known}", body)
            except NotFound:
                pass
        return await self.github.post(
            self.repository, "check-runs", {**body, "head_sha": shown.commit}
        )

    async def _found(self, shown: ShownCheck, name: str) -> int | None:
        path = f"commits/{shown.commit}/check-runs"
        author = await self.github.author()
        async for one in self.github.pages(
            self.repository, path, {"check_name": name}, under="check_runs"
        ):
            app = one.get("app") or {}
            is_ours = author.app_id is None or app.get("id") == author.app_id
            if is_ours and one["external_id"] == shown.external_id:
                return int(one["id"])
        return None


@dataclass(frozen=True, slots=True)
class Statuses:
    """REST docs, "Commit statuses": at most 1,000 a context, so each is sent on a change only."""

    github: Github
    repository: Repository

    async def write(self, shown: ShownCheck, name: str, check: Check) -> ShownCheck:
        """A status has no id, and the newest of its context counts."""
        body = {
            "context": name,
            "state": _state(check.conclusion),
            "description": short(check.title, DESCRIPTION_LIMIT),
        }
        wanted = digest("status1", body)[-32:]
        if wanted == shown.digest or (check.conclusion is None and _is_shown(shown)):
            return shown
        await self.github.post(self.repository, f"statuses/{shown.commit}", body)
        return replace(shown, name=name, digest=wanted, is_open=check.conclusion is None)


def _is_shown(shown: ShownCheck) -> bool:
    return bool(shown.digest) and shown.is_open


def _run(shown: ShownCheck, name: str, check: Check) -> Mapping[str, Any]:
    ended = {"status": "completed", "conclusion": check.conclusion}
    return {
        "name": name,
        "external_id": shown.external_id,
        **({"status": "in_progress"} if check.conclusion is None else ended),
        "output": _output(check),
    }


def _output(check: Check) -> Mapping[str, Any]:
    text = {"text": check.text} if check.text else {}
    return {"title": check.title, "summary": check.summary, **text}


def _annotation(found: Annotation) -> Mapping[str, Any]:
    return {
        "path": found.path,
        "start_line": found.line,
        "end_line": found.end_line,
        "annotation_level": "failure" if found.blocks else "warning",
        "title": short(found.title, NAME_LIMIT),
        "message": found.message,
    }


def _state(conclusion: Conclusion | None) -> str:
    match conclusion:
        case None:
            return "pending"
        case Conclusion.FAILURE:
            return "failure"
        case Conclusion.CANCELLED:
            return "error"
        case Conclusion.SUCCESS | Conclusion.NEUTRAL | Conclusion.SKIPPED:
            return "success"
