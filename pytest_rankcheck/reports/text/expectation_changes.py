"""Expectations that a branch removed or loosened, found in git because no baseline has them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from pytest_rankcheck.baselines.reference_commit import Reference
from pytest_rankcheck.errors import ConfigurationError, GoldenSetError, plural, quoted
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.expectation_entry import expectation_of
from pytest_rankcheck.reports.findings import ReportedFinding
from pytest_rankcheck.reports.notes import Note, Topic

__all__ = ["looser_expectations", "unchecked_expectations"]

_SHOWN = 10
"""How many expectations of a file are listed."""
_KEY = '"expect"'


def looser_expectations(
    reference: Reference, golden_files: Iterable[Path], folder: Path
) -> Iterator[Note]:
    """Yield the expectations of golden sets that were stricter at the reference commit.

    These are expectations that were removed, were marked as known failures, only warn now, or may
    be worse than before (``known_rank``).

    Args:
        reference: the commit.
        golden_files: the golden sets; only JSON lines have expectations.
        folder: the folder in which the test session started.
    """
    for file in dict.fromkeys(golden_files):
        before = None
        with suppress(ConfigurationError):  # tests with baselines report this
            before = reference.text(file) if file.suffix == ".jsonl" else None
        if before is None or _KEY not in before:
            continue
        after = ""
        with suppress(OSError, ValueError):
            after = file.read_text("utf-8")
        if after == before:
            continue
        changes = list(_changes(_expectations(before), _expectations(after)))
        about, shown = quoted(reference.name), quoted(os.path.relpath(file, folder), 200)
        for change in changes[:_SHOWN]:
            yield Note(Topic.LOOSER_EXPECTATIONS, f"{shown}: {change}", about)
        if len(changes) > _SHOWN:
            rest = plural(len(changes) - _SHOWN, "more expectation", "more expectations")
            yield Note(Topic.LOOSER_EXPECTATIONS, f"{shown}: {rest}", about)


def unchecked_expectations(
    golden_files: Mapping[str, Path], findings: Iterable[ReportedFinding], folder: Path
) -> Iterator[Note]:
    """Yield the golden sets with expectations that no test has checked, such as a deleted one.

    Args:
        golden_files: the golden sets by name; only JSON lines have expectations.
        findings: of all tests.
        folder: the folder in which the test session started.
    """
    checked = {
        each.about
        for each in findings
        if isinstance(each, Note) and each.topic is Topic.EXPECTATIONS
    }
    for name, file in golden_files.items():
        if file.suffix != ".jsonl" or quoted(name) in checked:
            continue
        expectations: Mapping[tuple[object, ...], Expectation] = {}
        with suppress(OSError, ValueError):
            expectations = _expectations(file.read_text("utf-8"))
        if expectations:
            shown = quoted(os.path.relpath(file, folder), 200)
            count = plural(len(expectations), "expectation")
            text = f"{shown}: {count}; a test checks them with assert_expectations"
            yield Note(Topic.UNCHECKED_EXPECTATIONS, text)


def _expectations(text: str) -> Mapping[tuple[object, ...], Expectation]:
    """Return the expectations of a file, keyed by their claims; invalid lines are left out.

    Loading the golden set reports invalid lines in the present file.
    """
    found: dict[tuple[object, ...], Expectation] = {}
    for line in text.splitlines():
        if _KEY not in line:
            continue
        with suppress(ValueError, KeyError, TypeError, RecursionError, GoldenSetError):
            entry = json.loads(line)
            for item in entry["expect"]:
                expectation = expectation_of(str(entry["query_id"]), item)
                found.setdefault(expectation.claim, expectation)
    return found


def _changes(
    before: Mapping[tuple[object, ...], Expectation],
    after: Mapping[tuple[object, ...], Expectation],
) -> Iterator[str]:
    for claim, then in before.items():
        now = after.get(claim)
        what = "removed" if now is None else _loosened(then, now)
        if what:
            yield f"query '{quoted(then.query)}', expected {then}: {what}"


def _loosened(then: Expectation, now: Expectation) -> str:
    """Return how an expectation was loosened; empty if it was not."""
    if now.known_failure is not None and then.known_failure is None:
        return f'now a known failure ("{quoted(now.known_failure, 200)}")'
    if then.severity == "error" and now.severity == "warn":
        return "only warns now (severity warn)"
    if then.known_rank is None or now.known_failure is None or now.known_rank == then.known_rank:
        return ""
    is_worse = now.known_rank is None or (
        now.known_rank < then.known_rank
        if now.kind == "not_in_top"
        else now.known_rank > then.known_rank
    )
    return f"known_rank {then.known_rank} -> {now.known_rank or '-'}" if is_worse else ""
