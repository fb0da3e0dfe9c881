"""The fake's renders: what is cached takes no time, what is asked too often at once is refused."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from foretell.testing.argocd.faults import Faults
from foretell.testing.argocd.refused import UNKNOWN, Refused
from foretell.testing.argocd.rendering import commits_of, rendered
from foretell.testing.argocd.repository import Repository

Map = Mapping[str, Any]


@dataclass(slots=True)
class RepoServer:
    """`made` counts the renders that no cache had, by Application; `peak` those at one time.

    `by_label`: things are marked by a label and not by an annotation. `says_commit`: answers say
    which commit they are of; servers up to 3.1 at least do not.
    """

    faults: Faults
    repositories: dict[str, Repository] = field(default_factory=dict)
    by_label: bool = False
    says_commit: bool = False
    made: Counter[str] = field(default_factory=Counter)
    peak: int = 0
    _running: int = 0
    _cache: dict[str, list[str]] = field(default_factory=dict)

    async def manifests(
        self, application: Map, sources: Sequence[Map], *, no_cache: bool = False
    ) -> dict[str, Any]:
        """`repositoryManifestResponse`. Raises Refused as the gateway tells a renderer's error."""
        name = application["metadata"]["name"]
        if self.faults.condition(name):
            return {"manifests": None}
        try:
            commits = [
                self._served(commit, no_cache=no_cache)
                for commit in commits_of(sources, self.repositories)
            ]
            pinned = [
                {**source, "targetRevision": commit}
                for source, commit in zip(sources, commits, strict=True)
            ]
            texts = await self._cached(application, pinned, no_cache=no_cache)
        except ValueError as error:
            raise Refused(
                UNKNOWN,
                "error generating manifests: rpc error: code = Unknown desc = Manifest generation "
                f"error: {error}",
            ) from error
        return {"manifests": texts} | ({"revision": commits[0]} if self.says_commit else {})

    async def warm(self, application: Map, pinned: Sequence[Map]) -> None:
        """What the controller rendered before is in the cache, and is not counted."""
        self._cache[_key(application, pinned)] = await rendered(
            application, pinned, self.repositories, by_label=self.by_label
        )

    def _served(self, commit: str, *, no_cache: bool) -> str:
        if no_cache and not self.faults.stale_for_good:
            return commit
        return self.faults.stale.get(commit, commit)

    async def _cached(
        self, application: Map, pinned: Sequence[Map], *, no_cache: bool
    ) -> list[str]:
        key = _key(application, pinned)
        if key not in self._cache or no_cache:
            self._cache[key] = await self._make(application, pinned)
        return self._cache[key]

    async def _make(self, application: Map, pinned: Sequence[Map]) -> list[str]:
        faults, name = self.faults, application["metadata"]["name"]
        if faults.most_at_once is not None and self._running >= faults.most_at_once:
            raise Refused(faults.refuses_with, "too many renders at once")
        self._running += 1
        self.peak = max(self.peak, self._running)
        try:
            await faults.wait(name)
            self.made[name] += 1
            return await rendered(application, pinned, self.repositories, by_label=self.by_label)
        finally:
            self._running -= 1


def _key(application: Map, sources: Sequence[Map]) -> str:
    """By what Argo CD keeps a render: the name is part of it, as it is of the result."""
    named = [application["metadata"]["name"], application["spec"]["destination"], sources]
    return json.dumps(named, sort_keys=True)
