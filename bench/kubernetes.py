"""The Kubernetes diff beside the bare YAML parse of both sides: time, memory, growth with renames.

Times are the best of some calls in a warm interpreter. The peer is PyYAML's C loader, the fastest
YAML parser there is for Python, on the same two texts: that much any tool pays before it compares.
Memory is the peak of a process of its own. Needs Linux or macOS (getrusage).
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import yaml
from yaml.cyaml import CSafeLoader  # type: ignore[attr-defined]

from bench import Line
from foretell.formats.kubernetes import Comparison, compare

ROUNDS = 5
MANIFESTS = 200
LARGE = 3_040
MEMORY_GOAL_MB = 300
SIZES = (1_000, 2_000, 4_000, 8_000)
NEAR_LINEAR = 1.5

_DEPLOYMENT = """\
---
# Source: shop/templates/{name}.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: shop
  labels:
    app.kubernetes.io/name: shop
    app.kubernetes.io/instance: "{name}"
    app.kubernetes.io/version: "1.16.0"
    helm.sh/chart: shop-1.2.3
spec:
  replicas: {replicas}
  selector:
    matchLabels:
      app.kubernetes.io/name: {name}
  template:
    metadata:
      annotations:
        checksum/config: 6f1ed002ab5595859014ebf0951522d9a1c7a5b6b3a7e6b0e9ab1b6a3d1c{number:04d}
      labels:
        app.kubernetes.io/name: {name}
    spec:
      serviceAccountName: {name}
      containers:
        - name: main
          image: "registry.example/shop/{name}:1.16.0"
          imagePullPolicy: IfNotPresent
          args: ["--port=8080", "--shard={number}", "--log-format=json"]
          env:
            - name: SHARD
              value: "{number}"
            - name: PASSWORD
              valueFrom: {{secretKeyRef: {{name: {name}, key: password}}}}
          ports:
            - name: http
              containerPort: 8080
              protocol: TCP
          livenessProbe:
            httpGet: {{path: /healthz, port: http}}
          readinessProbe:
            httpGet: {{path: /readyz, port: http}}
          resources:
            limits: {{cpu: 500m, memory: 512Mi}}
            requests: {{cpu: 100m, memory: 128Mi}}
          volumeMounts:
            - name: config
              mountPath: /etc/shop
      volumes:
        - name: config
          configMap:
            name: {name}
"""
_CONFIG = """\
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
  namespace: shop
data:
  number: "{number}"
  host: {number}.shop.example
  mode: fast
"""


def run() -> Iterator[Line]:
    yield _same_elsewhere(shared=True)
    yield _same_elsewhere(shared=False)
    yield _memory()
    yield _growth()


def _deployments(count: int, *, changed: int = 0, version: str = "") -> str:
    """`changed` of them have another number of replicas. Another `version` makes every document
    another text, as a new chart version in a comment does, so that no parse is spared."""
    texts = (
        _DEPLOYMENT.format(name=f"shop-{at}", number=at, replicas=3 if at < changed else 2)
        for at in range(count)
    )
    return "".join(texts).replace("# Source:", f"# Source{version}:")


def _same_elsewhere(*, shared: bool) -> Line:
    before = _deployments(MANIFESTS)
    after = _deployments(MANIFESTS, changed=3, version="" if shared else " v2")
    ours, bare = _best_by_turns(
        lambda: _printed(compare(before, after)),
        lambda: [list(yaml.load_all(text, CSafeLoader)) for text in (before, after)],
    )
    return Line(
        f"kubernetes-diff-{'unchanged-shared' if shared else 'every-document-anew'}",
        ours / bare,
        2.5,
        f"{MANIFESTS} manifests, {len(before) / 1000:.0f} KB a side, 3 changes:"
        f" ours {ours * 1000:.1f} ms, PyYAML's bare C parse {bare * 1000:.1f} ms",
    )


def _printed(comparison: Comparison) -> str:
    if len(comparison.changes) != 3:
        raise SystemExit(f"expected 3 changes, got {len(comparison.changes)}")
    return "".join(change.diff for change in comparison.changes)


def _memory() -> Line:
    argv = [sys.executable, "-m", "bench.kubernetes"]
    done = subprocess.run(argv, stdout=subprocess.PIPE, check=True)
    peak = json.loads(done.stdout)
    return Line(
        "kubernetes-diff-memory",
        peak["mb"] / MEMORY_GOAL_MB,
        1,
        f"{peak['text_mb']:.1f} MB a side, no document shared: the process peaks at"
        f" {peak['mb']:.0f} MB of {MEMORY_GOAL_MB} MB; an idle one takes {peak['idle_mb']:.0f} MB",
    )


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def _growth() -> Line:
    seconds = dict(zip(SIZES, _best_by_turns(*map(_renamed, SIZES)), strict=True))
    first, last = SIZES[0], SIZES[-1]
    each = ", ".join(f"{size:,}: {took * 1000:.0f} ms" for size, took in seconds.items())
    return Line(
        "kubernetes-pairing-growth",
        seconds[last] / seconds[first] / (last / first),
        NEAR_LINEAR,
        f"time an object at {last:,} objects over that at {first:,}, 10 % renamed ({each})",
    )


def _renamed(size: int) -> Callable[[], object]:
    before = "".join(_CONFIG.format(name=f"shop-{at}-a", number=at) for at in range(size))
    after = "".join(
        _CONFIG.format(name=f"{'store' if at % 10 == 0 else 'shop'}-{at}-a", number=at)
        + ("  more: yes\n" if at % 10 == 0 else "")
        for at in range(size)
    )

    def call() -> None:
        tags = [tag for change in compare(before, after).changes for tag in change.tags]
        if len(tags) != size // 5:
            raise SystemExit(f"expected {size // 5} tags of renames, got {len(tags)}")

    return call


def _best_by_turns(*calls: Callable[[], object]) -> list[float]:
    """Seconds of the best round of each; by turns, so that a busy machine hinders all alike."""
    rounds = [[_seconds(call) for call in calls] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds, strict=True)]


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main() -> None:
    idle_mb = _peak_mb()
    before, after = _deployments(LARGE), _deployments(LARGE, changed=3, version=" v2")
    _printed(compare(before, after))
    print(json.dumps({"mb": _peak_mb(), "idle_mb": idle_mb, "text_mb": len(before) / 1e6}))


if __name__ == "__main__":
    main()
