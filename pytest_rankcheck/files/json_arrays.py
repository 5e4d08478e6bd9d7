"""A JSON array of objects, written by hand or exported by a tool, as rows with their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pytest_rankcheck.errors import RankcheckError
from pytest_rankcheck.files.text_files import decoder_of, text_of

__all__ = ["elements_of_array"]

_SPACE = re.compile(r"[ \t\r\n]*")


def elements_of_array(path: Path, error: type[RankcheckError]) -> tuple[list[object], list[int]]:
    """Return the elements of the JSON array in a file, and the line where each begins.

    Raises:
        error: the file cannot be read, or is not a JSON array; the message names line and column.
    """
    text = text_of(path, error)
    lines: list[int] = []
    elements: list[object] = []
    line, before = 1, 0
    try:
        for start, element in _elements(text, str(path), error):
            line += text.count("\n", before, start)
            before = start
            lines.append(line)
            elements.append(element)
    except json.JSONDecodeError as failure:
        where = f"{path}:{failure.lineno}"
        raise error(f"{where}: not JSON: {failure.msg}, column {failure.colno}") from None
    except RankcheckError:
        raise
    except (RecursionError, ValueError) as failure:
        raise error(f"{path}: not JSON: {failure}") from None
    return elements, lines


def _elements(text: str, where: str, error: type[RankcheckError]) -> Iterator[tuple[int, object]]:
    """Yield the elements of an array, and where each begins.

    Raises:
        json.JSONDecodeError: the text is not a JSON array.
        error: as `decoder_of` says.
    """
    decoder = decoder_of(where, error)
    at = _after_space(text, 0)
    if not text.startswith("[", at):
        raise json.JSONDecodeError("Expecting an array", text, at)
    at = _after_space(text, at + 1)
    is_end = text.startswith("]", at)
    while not is_end:
        element, end = decoder.raw_decode(text, at)
        yield at, element
        at = _after_space(text, end)
        is_end = text.startswith("]", at)
        if not is_end:
            if not text.startswith(",", at):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            at = _after_space(text, at + 1)
    end = _after_space(text, at + 1)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
