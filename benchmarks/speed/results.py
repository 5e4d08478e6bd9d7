"""What was measured, in a file that is added to, with the machine that measured it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from speed.peers import PEERS

PACKAGES = ("numpy", "pandas", "polars", "pyarrow")


class Results:
    """The cells, the rows and the shapes that were measured so far.

    Attributes:
        content: ``machine``, ``versions``, ``shapes`` and ``cells``, as page.py reads them.
    """

    def __init__(self, path: Path | None, machine: dict[str, Any]) -> None:
        self._path = path
        self.content: dict[str, Any] = {"versions": {}, "shapes": {}, "cells": {}}
        self.content["machine"] = machine
        if path and path.exists():
            self.content = json.loads(path.read_text("utf-8"))
            if self.content["machine"] != machine:
                raise SystemExit(
                    f"{path} was measured on {self.content['machine']}, and this is {machine}: "
                    "times of two machines do not belong into one table; give another file"
                )

    def keep(self, part: str, name: str, measured: Any) -> None:
        """Keep one result, and write all of them."""
        self.content[part][name] = measured
        if self._path:
            self._path.write_text(json.dumps(self.content, indent=1) + "\n", encoding="utf-8")


def this_machine(scale: float) -> dict[str, Any]:
    """Return what all results of one file must share."""
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "scale": scale,
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def versions(pythons: Mapping[str, str]) -> dict[str, str | None]:
    """Return the versions of the libraries and of the peers; None for what is not installed."""
    ours = {name: _version(name, sys.executable) for name in PACKAGES}
    for name, peer in PEERS.items():
        ours[name] = _version(peer.package, pythons.get(name, sys.executable))
    return ours


def _version(package: str, python: str) -> str | None:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None
