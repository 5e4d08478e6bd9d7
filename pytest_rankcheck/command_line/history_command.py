"""``python -m pytest_rankcheck history``: what was approved at each commit of the branch."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from pytest_rankcheck.baselines.history import RecordHistory, histories
from pytest_rankcheck.command_line.shared_inputs import PASSED, Commands
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.files.file_patterns import matching_files
from pytest_rankcheck.files.git_commands import git, git_line
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.remedies import fetch_history
from pytest_rankcheck.reports.history_report import (
    history_json,
    history_lines,
    nightly_means,
    page_of,
    query_lines,
)
from pytest_rankcheck.reports.report_formats import REPORT_FORMATS


def add_history_command(commands: Commands) -> None:
    """Add the command ``history`` to the parser."""
    history = commands.add_parser(
        "history",
        help="show what the baselines recorded at each commit of the branch",
        description="Show the means that the baselines recorded at each commit of the current "
        "branch, with the largest falls and rises. This is what was approved, not what ran.",
    )
    history.add_argument("records", nargs="*", metavar="RECORD", help="a baseline (default: all)")
    history.add_argument("--metric", help="show this metric (default: all that are gated)")
    history.add_argument("--query", metavar="ID", help="follow one query")
    history.add_argument("--since", metavar="DATE", help="a date as in git log, such as 2.weeks")
    history.add_argument(
        "--reports",
        nargs="+",
        default=[],
        type=Path,
        metavar="REPORT",
        help="JSON reports of what ran, such as 'nightly/*.json', to draw as points",
    )
    history.add_argument("--html", type=Path, metavar="FILE", help="write a page with charts")
    history.add_argument("--json", type=Path, metavar="FILE", help="write all points as JSON")
    history.set_defaults(run=_history)


def _history(chosen: argparse.Namespace) -> int:
    if chosen.html is not None:
        REPORT_FORMATS["html"].check("--html")
    metric = str(Metric.parse(chosen.metric)) if chosen.metric else None
    nightly = nightly_means(matching_files(chosen.reports, ConfigurationError))
    here = Path.cwd()
    found = _chosen(histories(here, metric, chosen.query), chosen.records, here)
    since = _seconds(chosen.since, here)
    may_gate_none = chosen.query is not None and metric is None  # but the record has rankings
    shown = [each.since(since) for each in found if each.metrics or may_gate_none]
    text_of = partial(history_lines, nightly=nightly) if chosen.query is None else query_lines
    lines = [*chain.from_iterable(map(text_of, shown))]
    if not lines:
        what = f"query {quoted(chosen.query)}" if chosen.query else metric or "a baseline"
        raise ConfigurationError(f"no commit of this branch has {what}; check the name")
    print("\n".join(lines))
    print("this is what was approved, not what ran")
    if git_line(here, "rev-parse", "--is-shallow-repository") == "true":
        remote = (git_line(here, "remote") or "origin").split()[0]
        print(f"this is a shallow clone, so older commits are missing; {fetch_history(remote)}")
    if chosen.html is not None:
        write_whole(chosen.html, page_of(shown, nightly))
    if chosen.json is not None:
        write_whole(chosen.json, history_json(shown))
    return PASSED


def _chosen(
    found: Sequence[RecordHistory], records: Sequence[str], folder: Path
) -> Sequence[RecordHistory]:
    """Return the histories of the named records; without names, all.

    Raises:
        ConfigurationError: no commit of the branch has one of them.
    """
    if not records:
        return found
    prefix = git_line(folder, "rev-parse", "--show-prefix") or ""
    by_path = {each.path: each for each in found}
    chosen = []
    for name in records:
        inside = os.path.relpath(folder / name, folder)
        history = by_path.get(Path(os.path.normpath(Path(prefix, inside))).as_posix())
        if history is None:
            raise ConfigurationError(
                f"{quoted(name)}: no commit of this branch has this baseline; run history without "
                "a name to see the latest paths"
            )
        chosen.append(history)
    return chosen


def _seconds(since: str | None, folder: Path) -> float:
    """Return the time that git reads from a date, in seconds; without a date, the earliest."""
    if since is None:
        return 0.0
    return float(git(folder, "rev-parse", f"--since={since}").strip().removeprefix("--max-age="))
