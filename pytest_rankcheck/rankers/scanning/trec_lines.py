"""Parsing the lines of TREC runs a block at a time, with a few calls for many lines.

This reader needs no library. Blocks in an unusual form (comments, a tag of two words, an invalid
score) are read line by line, which is slower and reports what is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_rankcheck.errors import RunError, quoted
from pytest_rankcheck.files.checked_cells import finite_number
from pytest_rankcheck.files.trec_columns import columns_of, words_of_lines
from pytest_rankcheck.rankers.scanning.query_blocks import LineBlock

__all__ = ["COLUMNS", "Lines", "lines_of_block"]

COLUMNS = 6


@dataclass(frozen=True, slots=True)
class Lines:
    """The columns needed from some lines: ids as UTF-8, and scores."""

    queries: list[bytes]
    docs: list[bytes]
    scores: list[float]


def lines_of_block(block: LineBlock) -> Lines:
    """Return the columns of a block.

    Raises:
        RunError: a line does not have six columns, is not UTF-8, or its score is not a finite
            number; the message names file and line.
    """
    return _quickly(block.text) or _line_by_line(block)


def _quickly(text: bytes) -> Lines | None:
    """Return the columns if every line has exactly six, otherwise None."""
    words = words_of_lines(text, COLUMNS)
    if words is None:
        return None
    queries, _, docs, _, texts, _ = words
    try:
        scores = list(map(float, texts))
    except ValueError:
        return None
    if not math.isfinite(sum(scores)) or (b"_" in text and b"_" in b"".join(texts)):
        return None  # Python would read 1_000 as a number
    return Lines(queries, docs, scores)


def _line_by_line(block: LineBlock) -> Lines:
    lines = Lines([], [], [])
    for place, raw in enumerate(block.text.split(b"\n")):
        if raw.startswith(b"#") or not raw.strip():
            continue
        try:
            query_id, doc_id, score = _columns(raw)
        except ValueError as problem:
            where = f"{block.path}:{block.first_line + place}"
            raise RunError(f"{where}: {problem}") from None
        lines.queries.append(query_id.encode())
        lines.docs.append(doc_id.encode())
        lines.scores.append(score)
    return lines


def _columns(raw: bytes) -> tuple[str, str, float]:
    """Return query, document and score of a line.

    Raises:
        ValueError: the line is invalid; the message says why.
    """
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise ValueError(f"byte {failure.start + 1} is not UTF-8; save the file as UTF-8") from None
    columns = columns_of(line)
    if len(columns) < COLUMNS:
        raise ValueError(
            f"{len(columns)} columns, not {COLUMNS}: '{quoted(line.rstrip(), 60)}'; "
            "a line of a run is: query_id Q0 doc_id rank score tag"
        )
    query_id, _, doc_id, _, text, *_ = columns  # a tag may have several words
    score = finite_number(text)
    if score is None:
        raise ValueError(
            f"the score of document '{quoted(doc_id)}' is '{quoted(text, 40)}', not a finite number"
        )
    return query_id, doc_id, score
