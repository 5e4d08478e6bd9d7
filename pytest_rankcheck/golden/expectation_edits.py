"""Edit known failures in a golden set of JSON lines without changing any other byte."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, quoted
from pytest_rankcheck.files.packed_files import failures_named, opened
from pytest_rankcheck.files.text_files import decode_utf8, parse_json
from pytest_rankcheck.golden.checked_values import checked_id
from pytest_rankcheck.golden.expectation import Expectation
from pytest_rankcheck.golden.expectation_entry import expectation_of

__all__ = ["Edits", "edited_file"]

Edits = Mapping[str, Mapping[int, int | None]]
"""By query, and by the place of an expectation among those of its query (from 0, without
duplicates): the rank to record, or None to remove the mark of the known failure."""

_MARK, _RANK = "known_failure", "known_rank"
_WHITE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def edited_file(path: Path, edits: Edits) -> bytes:
    """Return the content of a golden set of JSON lines after the edits.

    Args:
        path: the file; packed files are unpacked.
        edits: the edit for each expectation to change.

    Raises:
        GoldenSetError: the file cannot be read, is not in JSON lines, or lacks one of the
            expectations, or that expectation is not a known failure.
    """
    with failures_named(path, GoldenSetError), opened(path) as file:
        lines = file.read().split(b"\n")
    left = {query_id: dict(of_query) for query_id, of_query in edits.items()}
    for number, raw in enumerate(lines, start=1):
        if b'"expect' in raw or b"\\u" in raw:  # a key may be escaped
            lines[number - 1] = _edited_line(raw, f"{path}:{number}", left)
    missed = next((query_id for query_id, of_query in left.items() if of_query), None)
    if missed is not None:
        raise GoldenSetError(
            f"{path} has no such known failure for query '{quoted(missed)}'; was the file changed?"
        )
    return b"\n".join(lines)


def _edited_line(raw: bytes, where: str, left: dict[str, dict[int, int | None]]) -> bytes:
    """Return an edited line, and remove its edits from ``left``."""
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    text = decode_utf8(raw.removeprefix(mark), where, GoldenSetError)
    if text.startswith("#") or not text.strip():
        return raw
    try:
        entry = parse_json(text, where, GoldenSetError)
    except json.JSONDecodeError as failure:
        raise GoldenSetError(f"{where}: not JSON: {failure}; each line is one object") from None
    if not isinstance(entry, dict) or not isinstance(entry.get("expect"), list):
        return raw
    query_id = checked_id(entry.get("query_id"), '"query_id"', where)
    edits = left.get(query_id)
    if not edits:
        return raw
    numbers = _numbers(query_id, entry["expect"])
    start = _WHITE.match(text).end()  # type: ignore[union-attr]
    expected = [member for member in _members(text, start) if member.key == "expect"]
    for member in reversed(expected):
        spans = list(_items(text, member.value))
        for number, span in reversed(list(zip(numbers, spans, strict=True))):
            if number in edits:
                item = _edited(text[slice(*span)], edits[number])
                text = text[: span[0]] + item + text[span[1] :]
    for number, item in zip(numbers, entry["expect"], strict=True):
        if _MARK in item:
            edits.pop(number, None)
    return mark + text.encode("utf-8")


def _numbers(query_id: str, items: list[object]) -> list[int]:
    """Return each item's place among its query's expectations; equal items share a place."""
    seen: dict[Expectation, int] = {}
    return [seen.setdefault(expectation_of(query_id, item), len(seen)) for item in items]


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of an object: its key, and the places of the key, the value and the end."""

    key: str
    start: int
    value: int
    end: int


def _edited(item: str, rank: int | None) -> str:
    """Return the text of an expectation with a new rank, or without the mark."""
    members = list(_members(item, 0))
    if not any(member.key == _MARK for member in members):
        return item
    if rank is None:
        return _without(item, members)
    known = [member for member in members if member.key == _RANK]
    if known:
        for member in reversed(known):
            item = item[: member.value] + str(rank) + item[member.end :]
        return item
    place, mark = next(
        (place, member) for place, member in enumerate(members) if member.key == _MARK
    )
    # The new member is written like its neighbours, with or without spaces.
    after, before = (members[place], members[place - 1]) if place else (members[1], mark)
    comma = item[before.end : after.start]
    colon = item[mark.start : mark.value].partition('"')[2].rpartition('"')[2]
    return f'{item[: mark.end]}{comma}"{_RANK}"{colon}{rank}{item[mark.end :]}'


def _without(item: str, members: list[_Member]) -> str:
    """Return an object without its mark; the text between the other members is kept."""
    kept = [place for place, member in enumerate(members) if member.key not in (_MARK, _RANK)]
    text = item[: members[0].start]
    for place in kept:
        member = members[place]
        gap = "" if place == kept[0] else item[members[place - 1].end : member.start]
        text += gap + item[member.start : member.end]
    return text + item[members[-1].end :]


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at ``start``, in valid JSON."""
    place = _after(text, start + 1)
    while text[place] != "}":
        key, end = _DECODER.raw_decode(text, place)
        value = _after(text, _after(text, end) + 1)
        _, end = _DECODER.raw_decode(text, value)
        yield _Member(key, place, value, end)
        place = _next(text, end)


def _items(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each item of the array that begins at ``start``, in valid JSON."""
    place = _after(text, start + 1)
    while text[place] != "]":
        _, end = _DECODER.raw_decode(text, place)
        yield place, end
        place = _next(text, end)


def _next(text: str, end: int) -> int:
    """Return the start of the next member or item, or the place of the closing bracket."""
    place = _after(text, end)
    return _after(text, place + 1) if text[place] == "," else place


def _after(text: str, place: int) -> int:
    """Return the first place, from here on, that is not white space."""
    return _WHITE.match(text, place).end()  # type: ignore[union-attr]
