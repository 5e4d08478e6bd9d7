"""The runs in the folder of ``--rankcheck-save-run``: their names, and the golden set of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_rankcheck.baselines.baseline_path import safe_name
from pytest_rankcheck.errors import ConfigurationError, RunError, quoted
from pytest_rankcheck.rankers.run import Run

_SAVED = pytest.StashKey[set[Path]]()
"""The files that this session has saved runs to, without their endings."""
_ENDINGS = (".run", ".parquet", ".csv", ".jsonl")
"""The endings of saved runs, and of those that people put into the folder."""
_PART = re.compile(r"part-|_SUCCESS$|[^=]+=")
"""The names of parts in a folder, as Spark and others write them."""


def run_name(golden_name: str, label: str) -> str:
    """Return the name of a file for the run of a golden set, without its ending.

    Args:
        golden_name: the name of the golden set.
        label: the ids of the parameters that chose the run; empty without any.
    """
    return safe_name(golden_name) + (f"-{safe_name(label)}" if label else "")


def save_run(config: pytest.Config, run: Run, golden_name: str, label: str, folder: Path) -> None:
    """Save the run of a golden set as TREC; as JSON lines if its ids have white space.

    Raises:
        ConfigurationError: another run has this name.
    """
    place = folder / run_name(golden_name, label)
    saved = config.stash.setdefault(_SAVED, set())
    if place in saved:
        raise ConfigurationError(
            f"--rankcheck-save-run: two runs would both be saved as {place}; save them in "
            "sessions of their own"
        )
    saved.add(place)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run.save(f"{place}.run", "trec")
    except RunError:
        run.save(f"{place}.jsonl", "jsonl")  # better than to lose a run that took long


def saved_run(folder: Path, golden_name: str, label: str = "") -> Path:
    """Return the file or folder in ``--rankcheck-save-run`` that has the run of a golden set.

    A folder of parts has the run's name, or is the given folder itself if a cluster wrote it.

    Raises:
        ConfigurationError: the folder has no such run, or several.
    """
    name = run_name(golden_name, label)
    names = [*(f"{name}{ending}" for ending in _ENDINGS), name]
    found = [folder / each for each in names if (folder / each).exists()]
    if any(_PART.match(entry.name) for entry in folder.iterdir() if entry not in found):
        found.append(folder)
    if len(found) == 1:
        return found[0]
    raise ConfigurationError(
        f"rankcheck_run {folder}: {'several runs' if found else 'no run'} of golden set "
        f"'{quoted(golden_name)}' (looked for {', '.join(names)} and files part-*)"
    )
