"""LETOR and SVMlight, for learning to rank: lines of ``grade qid:N feature:value ... # doc_id``.

The features become columns of the candidates, named and ordered by their numbers; missing features
are 0. A header line of scikit-learn's, ``# Column indices are zero-based`` (or ``one-based``), says
where the numbers begin. The document id is the first word of the comment (or the word after
``docid =``); without a comment, it is the row number. The rest of the comment is the text of the
query, if all lines of the query agree. Without ``qid:``, the sizes of the queries are in a file
beside it, as in LightGBM: ``rank.test.query`` for ``rank.test``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from pytest_rankcheck.errors import GoldenSetError, plural, quoted
from pytest_rankcheck.files.checked_cells import checked_number, decimal_comma_hint
from pytest_rankcheck.files.format_registry import Format
from pytest_rankcheck.files.text_files import lines_of
from pytest_rankcheck.golden.golden_contents import Contents
from pytest_rankcheck.golden.golden_source import Source
from pytest_rankcheck.golden.query import Query
from pytest_rankcheck.golden.reranking_candidates import Candidates, is_feature_number

__all__ = ["FORMAT"]

_LINE = re.compile(
    r"\s*(?:[-+.,\d]+|[^\s:#,;|]+)"  # a grade: a number, or a word without separators of tables
    r"\s+(?:qid:\S+(?:\s|$)|\d+:\S)"
)
_HEADER = re.compile(r"# *column indices are (zero|one)-based", re.IGNORECASE)
"""The header line of scikit-learn's ``dump_svmlight_file``."""
_NAMED_DOCUMENT = re.compile(r"docid\s*=\s*(\S+)")


def read(source: Source) -> Contents:
    """Read candidates with features and grades."""
    contents = Contents(source)
    contents.candidates = Candidates(absent=0.0)
    texts: dict[str, set[str | None]] = {}
    lines: list[int] = []  # of the candidates
    sizes = _Sizes(source.file)
    rows = 0
    for number, line in lines_of(source.file, GoldenSetError):
        if line.lstrip().startswith("#"):
            header = _HEADER.match(line)
            if header:
                contents.candidates.first_feature = int(header[1].lower() == "one")
            continue
        rows += 1
        where = f"{source.file}:{number}"
        data, _, comment = line.partition("#")
        grade, *pairs = data.split()
        query_id = _query_id(pairs) or sizes.query_of(rows, where)
        named, doc_id, text = _parse_comment(comment)
        doc = named or doc_id or str(rows)
        texts.setdefault(query_id, set()).add(text)
        features = _features(pairs, where)
        row = contents.candidates.rows(query_id).get(doc)
        if row is None:
            contents.candidates.add(query_id, doc, features)
            lines.append(number)
        else:
            shown = f"{where}: document '{quoted(doc)}' of query '{quoted(query_id)}'"
            before = f"{source.file}:{lines[row]}"
            _check_repeat(
                shown, before, named is not None, contents.candidates.differs(row, features)
            )
        contents.see_query(Query(query_id), number)
        contents.add_judgment(query_id, doc, grade, number)
    sizes.check_end(rows)
    _check_first_feature(contents)
    contents.candidates.complete()
    for query_id, variants in texts.items():
        if len(variants) == 1 and (text := variants.pop()):
            contents.queries[query_id] = Query(query_id, text)
    return contents


def _query_id(pairs: list[str]) -> str | None:
    """Remove the query id from the pairs of a line and return it; None without one."""
    if pairs and pairs[0].startswith("qid:"):
        return pairs.pop(0).removeprefix("qid:") or None
    return None


def _parse_comment(comment: str) -> tuple[str | None, str | None, str | None]:
    """Return the document id after ``docid =``, or else the first word and the query text."""
    named = _NAMED_DOCUMENT.search(comment)
    if named:
        return named[1], None, None
    word, _, text = comment.strip().partition(" ")
    return None, word or None, text.strip() or None


def _check_repeat(shown: str, before: str, is_named: bool, differs: bool) -> None:
    """Check that a line is about the same document as the one ``before`` with the same id.

    An id that is only the first word of a comment, and not named as one, may not be meant as an id.
    """
    if not is_named:
        raise GoldenSetError(
            f"{shown} is also at {before}: the first word of a comment is the document "
            "id. Keep one of the lines, write the ids as '# docid = ...', or remove all comments, "
            "so that the row numbers are the ids"
        )
    if differs:
        raise GoldenSetError(f"{shown} has other features than at {before}; keep one line")


def _check_first_feature(contents: Contents) -> None:
    """Note that features count from 0 if there is a feature 0; the header must not contradict."""
    candidates = contents.candidates
    if "0" in candidates.columns:
        if candidates.first_feature == 1:
            raise GoldenSetError(
                f"{contents.places.file}: the header says that column indices are one-based, but "
                "there is a feature 0; correct one of them"
            )
        candidates.first_feature = 0


def _features(pairs: list[str], where: str) -> dict[str, object]:
    features: dict[str, object] = {}
    for pair in pairs:
        name, colon, text = pair.partition(":")
        value = checked_number(text)
        if not colon or not name or value is None:
            raise GoldenSetError(
                f"{where}: '{quoted(pair, 60)}' is not feature:value{decimal_comma_hint(text)}; a "
                "line has the form: grade qid:1 1:0.5 2:0.25 # doc_id"
            )
        if is_feature_number(name):
            name = name.lstrip("0") or "0"
        if name in features:
            raise GoldenSetError(f"{where}: duplicate feature '{quoted(name)}'; keep one of them")
        features[name] = float(value)
    return features


class _Sizes:
    """The number of rows of each query, in a file beside the rows, for rows without query ids."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}.query")
        self._ends: list[int] = []

    def query_of(self, row: int, where: str) -> str:
        """Return the query of a 1-based row."""
        if not self._ends:
            self._ends = list(accumulate(self._read(where), initial=0))
        query = bisect_left(self._ends, row)
        if query == len(self._ends):
            total = plural(self._ends[-1], "row")
            raise GoldenSetError(f"{where}: row {row:,}, but {self._path.name} covers {total}")
        return str(query)

    def _read(self, where: str) -> Iterator[int]:
        if not self._path.exists():
            raise GoldenSetError(
                f"{where}: no qid:, and no file {self._path.name} with the sizes of the queries"
            )
        for number, line in lines_of(self._path, GoldenSetError):
            size = checked_number(line.strip())
            if not isinstance(size, int) or size < 0:
                raise GoldenSetError(
                    f"{self._path}:{number}: '{quoted(line, 40)}' is not a size; sizes are whole "
                    "numbers from 0 on"
                )
            yield size

    def check_end(self, rows: int) -> None:
        """Check that the sizes do not cover more rows than there are."""
        if self._ends and self._ends[-1] > rows:
            raise GoldenSetError(
                f"{self._path} covers {plural(self._ends[-1], 'row')}, but there are {rows:,}; is "
                "the file truncated?"
            )


FORMAT = Format(
    name="letor",
    description="LETOR or SVMlight, lines of: grade qid:1 1:0.5 2:0.25 # doc_id",
    recognises=lambda sample: _LINE.match(sample.line) is not None,
    read=read,
)
