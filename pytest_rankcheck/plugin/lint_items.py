"""The linter as configured: for the command, and as one test for each configured golden set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_rankcheck.errors import GoldenSetError, RankcheckError
from pytest_rankcheck.plugin.configuration import CONFIG
from pytest_rankcheck.plugin.inputs import Inputs, inputs_for, inputs_of
from pytest_rankcheck.reports.ledger import enter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_rule import LintFinding


def lint_of(inputs: Inputs, path: Path) -> tuple[GoldenSet, Sequence[LintFinding]]:
    """Return a golden set and the findings of the linter.

    A golden set that contradicts itself is still linted; only a gate refuses to read it.
    """
    from pytest_rankcheck.golden.lint.linter import findings_of

    golden = inputs.golden_set(path, "first")
    return golden, findings_of(golden, inputs.lint_options())


def lint_items(session: pytest.Session, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield a test for each golden set that the configuration or a collected rank file names."""
    golden = [path for item in items for path in inputs_for(item).config.golden]
    for path in dict.fromkeys((*session.config.stash[CONFIG].golden, *golden)):
        yield _LintItem.from_parent(_LintedFile.from_parent(session, path=path), name="lint")


class _LintedFile(pytest.File):
    """A golden set as a node, so that the path is the name of its test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield nothing: the one test of the set is created with the node."""
        return iter(())


class _LintItem(pytest.Item):
    """The test of a golden set: fails on errors, shows warnings in the summary."""

    def runtest(self) -> None:
        """Load the set, contradictions and all, and lint it."""
        from pytest_rankcheck.reports.text.golden_text import lint_notes, lint_text

        golden, findings = lint_of(inputs_of(self.config), self.path)
        if any(finding.level == "error" for finding in findings):
            raise GoldenSetError(lint_text(golden.name, len(golden), findings))
        for note in lint_notes(golden.name, findings):
            enter(note)

    def repr_failure(  # type: ignore[override]
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> str | object:
        """Return the findings, or what is wrong with the file, without a traceback."""
        if isinstance(excinfo.value, RankcheckError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the name of the test in the report."""
        return self.path, None, f"lint of golden set {self.path.name}"
