"""What CI systems show about a test: JUnit XML properties and GitHub Actions annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from pytest_rankcheck.errors import quoted
from pytest_rankcheck.reports.findings import GateFinding, ReportedFinding, rows_of
from pytest_rankcheck.reports.text.wording import gate_words

_LONGEST = 4000
"""In characters; GitHub cuts longer texts."""
_LONGEST_NAME = 1000


def properties_of(findings: Iterable[ReportedFinding]) -> Iterator[tuple[str, object]]:
    """Yield the value, the baseline and the verdict of each row of a test for JUnit XML.

    Properties are pairs of name and value, such as ``rankcheck.web.RR`` and ``0.750000``. The name
    for a second gate on a metric, or for a second run, ends with ``#2``.
    """
    counts = Counter[str]()
    for row in rows_of(findings):
        name = quoted(f"rankcheck.{row.golden_set}.{row.subject}", _LONGEST_NAME)
        counts[name] += 1
        name += f"#{counts[name]}" if counts[name] > 1 else ""
        yield name, f"{row.now:.6f}"
        if row.baseline is not None:
            yield f"{name}.baseline", f"{row.baseline:.6f}"
        if isinstance(row, GateFinding):
            yield f"{name}.verdict", gate_words(row)


def annotation(path: str, line: int, failure: str) -> str:
    """Return the command of a GitHub workflow that shows a failure text at a line of a file.

    Args:
        path: the path of the file, relative to the workspace.
        line: the line number, from 1.
        failure: the whole text; its first line is the title.
    """
    text = failure[:_LONGEST]
    title = text.partition("\n")[0]
    return f"::error file={_value(path)},line={line},title={_value(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
