"""JSON: a whole file, one object on each line, or one array. Nothing in it is dropped silently."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from pytest_rankcheck.errors import RankcheckError, quoted
from pytest_rankcheck.files.text_files import numbered_lines, text_of

OnBroken = Callable[[int, str, str], None]
"""Called for a broken row with its line number, the kind of problem and a description."""


class _RefusedError(ValueError):
    """JSON that Python would read, losing a value or with a number that is not finite."""


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        for key, value in pairs:
            if value != values[key]:
                raise _RefusedError(
                    f"duplicate key '{quoted(key)}', with the values {quoted(value)} and "
                    f"{quoted(values[key])}; keep one of them"
                )
    return values


def _not_finite(token: str) -> NoReturn:
    raise _RefusedError(f"{token} is not a finite number")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_not_finite)
_SCAN: Callable[[str, int], tuple[object, int]] = _DECODER.scan_once  # type: ignore[attr-defined]
"""Decodes a value without the steps around it, which take as long."""


def read_json(path: Path, error: type[RankcheckError]) -> object:
    """Return the JSON value that a file contains.

    Raises:
        error: the file cannot be read or is not JSON, or is nested too deeply; an object has a
            duplicate key with different values; or a number is NaN, infinite or too long. The
            message names the place.
    """
    text = text_of(path, error)
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as failure:
        place = f"{path}:{failure.lineno}: not JSON: {failure.msg}, column {failure.colno}"
        raise error(place) from None
    except _RefusedError as failure:
        raise error(f"{path}: {failure}") from None
    except (RecursionError, ValueError) as failure:
        raise error(f"{path}: not JSON: {failure}") from None
    return value


def objects_of_lines(
    path: Path,
    error: type[RankcheckError],
    lines: Iterable[tuple[int, str]] | None = None,
    *,
    what: str = "",
    on_broken: OnBroken | None = None,
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield the objects of a file with one JSON object on each line, with their line numbers.

    Blank lines and lines that begin with ``#`` are skipped.

    Args:
        path: the file.
        error: the exception type to raise.
        lines: some numbered lines of the file; without them, all.
        what: what the objects are rows of, such as "log", for messages.
        on_broken: called for each line that is not an object, which is then skipped; without it,
            such a line is an error.

    Raises:
        error: the file cannot be read, or a line is not an object; the message names the line.
    """
    for number, line in numbered_lines(path, error) if lines is None else lines:
        if not line.strip() or line.startswith("#"):
            continue
        try:
            entry = _value_of(line.rstrip("\r\n"))
        except (RecursionError, ValueError) as failure:
            prefix = "" if isinstance(failure, _RefusedError) else "not JSON: "
            hint = "; each line is one object" if isinstance(failure, json.JSONDecodeError) else ""
            reason = "not JSON"
            problem = f"{prefix}{quoted(failure, 300)}{hint}"
        else:
            if isinstance(entry, dict):
                yield number, entry
                continue
            reason, problem = "no object", no_object(entry, what)
        if on_broken is None:
            raise error(f"{path}:{number}: {problem}")
        on_broken(number, reason, problem)


def _value_of(line: str) -> object:
    try:
        value, end = _SCAN(line, 0)
    except StopIteration:  # it begins with white space
        end = 0
    return value if end == len(line) else _DECODER.decode(line)


def no_object(value: object, what: str) -> str:
    """Return what is wrong with a row that is not an object."""
    if not what:
        return f"not an object but {quoted(value, 40)}"
    return f"'{quoted(value, 60)}' is not an object with the columns of a {what}"
