"""``python -m pytest_rankcheck expectations``: check them on a run, and update known failures."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.behaviour.expectation_check import (
    ExpectationResult,
    ExpectationStatus,
    check_expectations,
)
from pytest_rankcheck.command_line.measurement_options import BLOCKED, PASSED, Commands
from pytest_rankcheck.command_line.project_inputs import ProjectInputs, add_reading_options
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, listed, plural, quoted
from pytest_rankcheck.files.whole_files import write_whole
from pytest_rankcheck.golden.expectation_edits import edited_file
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.plugin.ranking_runs import read_run
from pytest_rankcheck.rankers.run import Run
from pytest_rankcheck.reports.text.expectation_text import expectations_text
from pytest_rankcheck.reports.text.wording import query_in

__all__ = ["add_expectations_command"]

_MOST_CHANGES = 50


def add_expectations_command(commands: Commands) -> None:
    """Add the command ``expectations`` to the parser."""
    expectations = commands.add_parser(
        "expectations",
        help="check the expectations of a golden set on a run, and update its known failures",
        description="Check the expectations of a golden set on a run. Nothing is written without "
        "--remove-fixed or --record-ranks, which change only the marks of known failures in the "
        "JSON lines of the golden set. A run is what pytest --rankcheck-save-run FOLDER saves.",
    )
    expectations.add_argument("run_file", type=Path, metavar="RUN", help="the run")
    expectations.add_argument(
        "--golden", type=Path, help="the golden set, in JSON lines (default: rankcheck_golden)"
    )
    expectations.add_argument(
        "--remove-fixed",
        action="store_true",
        help="remove known_failure and known_rank from expectations that hold",
    )
    expectations.add_argument(
        "--record-ranks",
        action="store_true",
        help="write known_rank where it is missing or where the known failure got better",
    )
    add_reading_options(expectations)
    expectations.set_defaults(run=_expectations)


def _expectations(chosen: argparse.Namespace) -> int:
    inputs = ProjectInputs.of(chosen)
    path = inputs.golden_path(chosen.golden)
    golden = inputs.golden_set(path)
    here = Path.cwd()
    path = path.relative_to(here) if path.is_relative_to(here) else path  # shorter in messages
    if not golden.expectations:
        raise ConfigurationError(
            f"golden set '{quoted(golden.name)}' has no expectations; only JSON lines can hold "
            'them: "expect": [{"in_top": 3, "documents": ["d1"]}]'
        )
    run = read_run(inputs.config, chosen.run_file)
    run = run if inputs.depth is None else run.top(inputs.depth)
    results = check_expectations(run, golden, golden.expectations)
    print(expectations_text(golden, run, results))
    marks = _Marks.of(results, run)
    removed = marks.removable if chosen.remove_fixed else ()
    recorded = marks.recordable if chosen.record_ranks else ()
    if removed or recorded:
        _write(path, golden, removed, recorded)
        print(_headline(path, removed, recorded))
        lines = list(_changes(golden, removed, recorded))
        for line in lines[:_MOST_CHANGES]:
            print(line)
        if len(lines) > _MOST_CHANGES:
            print(f"  and {len(lines) - _MOST_CHANGES:,} more")
    for line in _rest(chosen, run, marks):
        print(line)
    return BLOCKED if any(each.fails and each not in removed for each in results) else PASSED


@dataclass(frozen=True, slots=True)
class _Marks:
    """The known failures, grouped by what the command can do with their marks."""

    removable: Sequence[ExpectationResult]
    """They hold now."""
    unasked: Sequence[ExpectationResult]
    """They hold only because the run lacks the query, as `not_in_top` does."""
    recordable: Sequence[ExpectationResult]
    """They have no ``known_rank``, or got better."""
    worse: Sequence[ExpectationResult]

    @classmethod
    def of(cls, results: Sequence[ExpectationResult], run: Run) -> _Marks:
        """Return the known failures among the results of a run."""
        fixed = [result for result in results if result.status is ExpectationStatus.FIXED]
        return cls(
            [result for result in fixed if result.expectation.query in run],
            [result for result in fixed if result.expectation.query not in run],
            [result for result in results if result.lacks_rank or result.is_better],
            [result for result in results if result.is_worse],
        )


def _write(
    path: Path,
    golden: GoldenSet,
    removed: Sequence[ExpectationResult],
    recorded: Sequence[ExpectationResult],
) -> None:
    """Change the marks of known failures in the file of the golden set."""
    ranks = {each.expectation: each.stands_at for each in recorded}
    ranks |= {each.expectation: None for each in removed}
    numbers: dict[str, int] = {}
    edits: dict[str, dict[int, int | None]] = {}
    for expectation in golden.expectations:
        query_id = expectation.query
        number = numbers[query_id] = numbers.get(query_id, -1) + 1
        if expectation in ranks:
            edits.setdefault(query_id, {})[number] = ranks[expectation]
    content = edited_file(path, edits)
    try:
        write_whole(path.resolve(), content)
    except OSError as failure:
        raise GoldenSetError(
            f"{quoted(path)} cannot be written: {failure.strerror or failure}; it is unchanged"
        ) from None


def _headline(
    path: Path, removed: Sequence[ExpectationResult], recorded: Sequence[ExpectationResult]
) -> str:
    parts = []
    if removed:
        parts.append(f"removed known_failure from {plural(len(removed), 'expectation')}")
    if recorded:
        parts.append(f"wrote known_rank for {plural(len(recorded), 'known failure')}")
    return f"{quoted(path, 300)}: {' and '.join(parts)}. Review the change and commit the file"


def _changes(
    golden: GoldenSet, removed: Sequence[ExpectationResult], recorded: Sequence[ExpectationResult]
) -> Iterator[str]:
    for result in removed:
        expectation = result.expectation
        reason = quoted(expectation.known_failure, 200)
        yield f'  {query_in(golden, expectation.query)}: {expectation}; it was marked "{reason}"'
    for result in recorded:
        expectation = result.expectation
        before = f" instead of {expectation.known_rank}" if expectation.known_rank else ""
        yield (
            f"  {query_in(golden, expectation.query)}: {expectation}; known_rank "
            f"{result.stands_at}{before}"
        )


def _rest(chosen: argparse.Namespace, run: Run, marks: _Marks) -> Iterator[str]:
    """Yield sentences on the marks and ranks that were not changed, with the reasons."""
    if marks.removable and not chosen.remove_fixed:
        count = plural(len(marks.removable), "expectation")
        yield f"--remove-fixed would remove known_failure from {count}"
    if marks.recordable and not chosen.record_ranks:
        count = plural(len(marks.recordable), "known failure")
        yield f"--record-ranks would write known_rank for {count}"
    if marks.unasked:
        queries = list(dict.fromkeys(each.expectation.query for each in marks.unasked))
        yield (
            f"known_failure was kept where run '{quoted(run.name)}' lacks the query, which shows "
            f"nothing: {listed(queries)}"
        )
    if marks.worse and chosen.record_ranks:
        queries = list(dict.fromkeys(each.expectation.query for each in marks.worse))
        yield (
            f"known_rank was not changed for {listed(queries)}, where the known failure got worse; "
            "to accept that, change it in the file"
        )
