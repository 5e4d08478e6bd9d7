"""The runs of a session: asked for once by all workers, repeated, saved, or read from files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pytest_rankcheck.baselines.baseline_path import safe_name
from pytest_rankcheck.errors import ConfigurationError, RunError, plural, quoted
from pytest_rankcheck.golden.fingerprint import visible_fingerprint
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.configuration import CONFIG, conventions_of
from pytest_rankcheck.plugin.configured_doc_ids import configured_doc_id
from pytest_rankcheck.plugin.option_table import RUN_ENDINGS, Config
from pytest_rankcheck.plugin.ranking_progress import ranking_progress
from pytest_rankcheck.rankers.adapter_protocol import RankingTask
from pytest_rankcheck.rankers.rank import ranked_as
from pytest_rankcheck.rankers.ranking import RankingRules, id_map
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.world import World

__all__ = ["RankerOrigin", "loaded_run", "ranked", "saved_run"]

_SAVED = pytest.StashKey[dict[Path, str | None]]()
"""The files that this session has saved runs to, with where their rankers came from."""
_PARAMETER = re.compile(r"\[([1-9]\d*)\]$")
"""In a ranker's origin: the parameter of its fixture, except the first."""
_PART = re.compile(r"part-|_SUCCESS$|[^=]+=")
"""The names of parts in a folder, as Spark and others write them."""


class RankerOrigin(NamedTuple):
    """Where a ranker came from."""

    fixture: str | None
    """A description of the fixture that all xdist workers share; None if it may differ between
    them."""
    name: str | None
    """The ranker's name, if the configuration gives one."""
    world: Callable[[], World]
    """Returns what ``rankcheck_world`` declares."""


def ranked(
    config: pytest.Config, ranker: object, golden: GoldenSet, origin: RankerOrigin, shared: Path
) -> Run:
    """Return the run of a ranker, with the configured number of repeats.

    Args:
        config: the test session.
        ranker: the ranker.
        golden: the queries.
        origin: where the ranker came from.
        shared: a folder that all workers share.
    """
    __tracebackhide__ = True
    chosen = config.stash[CONFIG]
    runs = []
    for number in range(1, chosen.repeat + 1):
        compute = partial(_computed, config, ranker, golden, origin, number)
        if not hasattr(config, "workerinput") or origin.fixture is None:
            runs.append(compute())
        else:
            from pytest_rankcheck.rankers.shared_run import run_computed_once

            visible = visible_fingerprint(golden.fingerprint, golden)
            key = f"{origin.fixture} {number} {golden.name} {visible}"
            runs.append(run_computed_once(shared, key, compute))
    runs[0].repeats = tuple(runs[1:])
    runs[0].asked = golden.name
    return runs[0]


def _computed(
    config: pytest.Config, ranker: object, golden: GoldenSet, origin: RankerOrigin, number: int
) -> Run:
    """Ask the ranker; save the first run where that is asked for."""
    __tracebackhide__ = True
    chosen = config.stash[CONFIG]
    conventions = conventions_of(chosen)
    task = RankingTask(
        golden, chosen.depth, chosen.concurrency, chosen.timeout, chosen.retries, chosen.retry_on
    )
    to_id = id_map(configured_doc_id(chosen))
    rules = RankingRules(conventions.ties, conventions.duplicates, to_id)
    execution = None
    if chosen.executor is not None or chosen.resume is not None:
        from pytest_rankcheck.plugin.ranking_execution import configured_execution

        known = origin.name or origin.fixture
        name = _file_name(golden, origin.fixture) + (f"-repeat-{number}" if number > 1 else "")
        if origin.name is None:  # one of several fixtures with this name
            name += f"-{hashlib.sha256(str(known).encode()).hexdigest()[:8]}"
        execution = configured_execution(config, known, name, origin.world)
    with ranking_progress(config, golden.name, number) as progress:
        run = ranked_as(execution, ranker, task, rules, progress)
    if chosen.check_depth and number == 1:
        from pytest_rankcheck.plugin.depth_checks import check_depth

        check_depth(config, ranker, run, task, rules)
    if chosen.save_run and number == 1:
        _save(config, run, golden, origin.fixture, chosen.save_run)
    return run


def _save(
    config: pytest.Config, run: Run, golden: GoldenSet, origin: str | None, folder: Path
) -> None:
    wanted = config.stash[CONFIG].save_run_format
    name = _file_name(golden, origin)
    saved = config.stash.setdefault(_SAVED, {})
    if saved.setdefault(folder / name, origin) != origin:
        raise ConfigurationError(
            f"--rankcheck-save-run: two rankers would both be saved as {folder / name}; save them "
            "in sessions of their own"
        )
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _write(run, folder, name, wanted or "trec")
    except RunError:
        if wanted is not None:
            raise
        _write(run, folder, name, "jsonl")  # rather than lose what took long to rank


def _file_name(golden: GoldenSet, origin: str | None) -> str:
    """Return the name for the run of a golden set, with a number if there are several rankers."""
    parameter = _PARAMETER.search(origin or "")
    return safe_name(golden.name) + (f"-{parameter[1]}" if parameter else "")


def _write(run: Run, folder: Path, name: str, format: str) -> None:
    run.save(folder / f"{name}{RUN_ENDINGS[format]}", format)


def loaded_run(config: Config, path: Path, golden_name: str | None) -> Run:
    """Return the run of a file, cut to the configured depth.

    Args:
        config: how to read it.
        path: the file.
        golden_name: the golden set that was ranked, under whose name its baselines are; None: the
            baselines are under the name of the file.

    Raises:
        RunError: it cannot be read.
    """
    run = read_run(config, path)
    run.asked = golden_name
    top = run.top(config.depth)
    top.notes = (*top.notes, *_age(path))
    return top


def _age(path: Path) -> Sequence[str]:
    """Return a sentence about a run that was not written today and may be an older ranker's."""
    files = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    written = datetime.fromtimestamp(max(file.stat().st_mtime for file in files), UTC)
    days = (datetime.now(UTC) - written).days
    if days < 1:
        return ()
    when = f"{written:%Y-%m-%d %H:%M} UTC"
    return (f"the rankings in {quoted(path, 200)} are {plural(days, 'day')} old (written {when})",)


def read_run(config: Config, path: Path) -> Run:
    """Return the whole run of a file, read by the configured conventions.

    Raises:
        RunError: it cannot be read.
    """
    conventions = conventions_of(config)
    return Run.load(
        path,
        ties=conventions.ties,
        duplicates=conventions.duplicates,
        doc_id=configured_doc_id(config),
        incomplete_ranks=config.incomplete_ranks,
    )


def saved_run(folder: Path, golden_name: str) -> Path:
    """Return the file or folder in ``--rankcheck-save-run`` that has the run of a golden set.

    A folder of parts has the run's name, or is the given folder itself if a cluster wrote it.

    Raises:
        ConfigurationError: the folder has no such run, or several.
    """
    name = safe_name(golden_name)
    file_names = [f"{name}{ending}" for ending in RUN_ENDINGS.values()]
    found = [folder / file for file in file_names if (folder / file).exists()]
    if (folder / name).is_dir():
        found.append(folder / name)  # parts
    others = [entry.name for entry in folder.iterdir() if entry not in found]
    if any(map(_PART.match, others)):
        found.append(folder)
    if len(found) == 1:
        return found[0]
    has = ", ".join(sorted(quoted(file.name) for file in folder.iterdir())[:10]) or "nothing"
    problem = "several runs" if found else "no run"
    raise ConfigurationError(
        f"rankcheck_run {folder}: {problem} of golden set '{quoted(golden_name)}' "
        f"(looked for {', '.join(file_names)}, a folder {name} and files part-*); the folder has "
        f"{has}"
    )
