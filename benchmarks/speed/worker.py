"""Measure one contestant on one form, in a process of its own.

    python -m speed.worker CONTESTANT FORM FOLDER WARM [MODULE ...]

The contestant does the same work on a small set first (WARM), so that most imports are over, and
the MODULEs are imported. Then the input of the form is made, and the work is measured once. Prints
one line of JSON, with the modules that were imported all the same.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from speed.inputs import Inputs
from speed.ours import rankcheck, rankcheck_without_polars
from speed.peers import PEERS

CONTESTANTS: dict[str, Callable[[str, Inputs], Any]] = {
    "rankcheck": rankcheck,
    "rankcheck, no polars": rankcheck_without_polars,
    **{name: peer.prepare for name, peer in PEERS.items()},
}


def measured(work: Callable[[], Mapping[str, float]]) -> dict[str, Any]:
    """Do the work once; return CPU and wall seconds, memory in MB, and the means."""
    gc.collect()
    _forget_the_peak()
    known = set(sys.modules)
    cpu, wall = _cpu(), time.perf_counter()
    means = work()
    wall, cpu = time.perf_counter() - wall, _cpu() - cpu
    return {
        "cpu": cpu,
        "wall": wall,
        "peak_mb": _peak_mb(),
        "means": dict(means),
        "imported": sorted(set(sys.modules) - known),
    }


def _cpu() -> float:
    """Return the CPU seconds, user and system, of this process and its children."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def _forget_the_peak() -> None:
    """Let the peak of the memory begin anew: building the input does not count."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_mb() -> float:
    """Return the largest memory of this process so far in MB (2**20 bytes)."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))


def main() -> None:
    """Measure once and print the result."""
    warnings.simplefilter("ignore")
    contestant, form, folder, warm, *modules = sys.argv[1:]
    prepare = CONTESTANTS[contestant]
    form, _, scores = form.partition("+")
    prepare(form, Inputs(Path(warm), scores))()
    for module in modules:
        with suppress(ImportError):
            import_module(module)
    print(json.dumps(measured(prepare(form, Inputs(Path(folder), scores)))))


if __name__ == "__main__":
    main()
