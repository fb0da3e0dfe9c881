"""`python -m bench [NAME…]`: the benchmarks of the modules of these names, or all there are."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable

import bench
from bench import Line


def registered() -> dict[str, Callable[[], Iterable[Line]]]:
    """`run` of every module of this package that has one; adding a file adds a benchmark."""
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__))
    modules = {name: importlib.import_module(f"bench.{name}") for name in names if name[0] != "_"}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}


def main(names: list[str]) -> int:
    found = registered()
    if unknown := [name for name in names if name not in found]:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(found)}", file=sys.stderr)
        return 1
    for name in names or found:
        for line in found[name]():
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
