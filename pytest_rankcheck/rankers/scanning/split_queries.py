"""Runs whose queries are interleaved: the lines are split into parts that fit into memory.

A hash of its query assigns each line to a temporary file, so that each file holds whole queries;
then each file is grouped in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from zlib import crc32

from pytest_rankcheck.rankers.scanning.query_blocks import blocks_of_queries
from pytest_rankcheck.rankers.scanning.trec_lines import Lines, lines_of_block

__all__ = ["brought_together"]

_PART_BYTES = 32 << 20
_MOST_PARTS = 256


def brought_together(path: Path, block_bytes: int) -> Iterator[Lines]:
    """Yield parts of the lines of a run, those of each query together, in the order of the file.

    Raises:
        RunError: a line is malformed; the message names file and line.
    """
    parts = min(path.stat().st_size // _PART_BYTES + 1, _MOST_PARTS)
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(parts)]
        for block in blocks_of_queries(path, block_bytes):
            lines = lines_of_block(block)
            for place, query in enumerate(lines.queries):
                score = repr(lines.scores[place]).encode()
                files[crc32(query) % parts].write(b"%s %s %s\n" % (query, lines.docs[place], score))
        for file in files:
            file.seek(0)
            yield _grouped(file.read())


def _grouped(text: bytes) -> Lines:
    """Return the lines of a part, those of each query together."""
    words = text.split()
    groups: dict[bytes, Lines] = {}
    for query, doc, score in zip(words[0::3], words[1::3], words[2::3], strict=True):
        group = groups.get(query)
        if group is None:
            group = groups[query] = Lines([], [], [])
        group.queries.append(query)
        group.docs.append(doc)
        group.scores.append(float(score))
    return Lines(
        list(chain.from_iterable(group.queries for group in groups.values())),
        list(chain.from_iterable(group.docs for group in groups.values())),
        list(chain.from_iterable(group.scores for group in groups.values())),
    )
