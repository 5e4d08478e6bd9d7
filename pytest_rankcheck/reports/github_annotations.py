"""Annotations of GitHub Actions: the failure text at the line of the assertion."""

from __future__ import annotations

__all__ = ["annotation"]

_LONGEST = 4000
"""Characters; GitHub cuts what is longer."""


def annotation(path: str, line: int, failure: str) -> str:
    """Return the workflow command that shows a failure text at a line of a file.

    Args:
        path: of the file, relative to the workspace.
        line: from 1.
        failure: the whole text; its first line is the title.
    """
    text = failure[:_LONGEST]
    title = text.partition("\n")[0]
    return f"::error file={_value(path)},line={line},title={_value(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
