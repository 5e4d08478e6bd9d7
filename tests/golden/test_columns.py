"""Golden sets read as columns: every way gives the same set, places and messages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.files import trec_columns
from pytest_rankcheck.golden import contents_builder, judgment_batches
from tests.examples import examples
from tests.libraries import HAS_POLARS, NEEDS_POLARS

RULES = ("error", "first", "last", "highest")


def outcome(read: Callable[[], GoldenSet]) -> object:
    """Return all that can be seen of a golden set, or the message of the error."""
    try:
        golden = read()
    except GoldenSetError as error:
        return str(error)
    contents = golden.contents
    places = [contents.place_at(row) for row in range(golden.judgment_count)]
    return (
        list(golden),
        [list(golden.grades(query_id).items()) for query_id in golden.query_ids],
        [golden.place(query_id) for query_id in golden.query_ids],
        places,
        golden.lint(),
        golden.fingerprint,
        golden.judgments.to_dict("list"),
    )


@contextmanager
def replaced(where: object, name: str, value: object) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, value)
        yield


# --- dicts ---------------------------------------------------------------------------------------

IDS = st.sampled_from(["d", "d1", "d2", "d10", "é", '"', "\\", " ", "\ud800", "d!", "\x7f"])
TEXT_IDS = st.sampled_from(["d", "d1", "é", '"', "\ud800", ""])
ODD_IDS = st.one_of(IDS, st.sampled_from(["", 1, None, 1.5, True]))
GRADES = st.sampled_from([0, 1, 2, 3.0, -2, 0.1, -0.0, True, np.int64(3), np.float32(0.1), 2**60])
ODD_GRADES = st.one_of(
    GRADES, st.sampled_from(["2", "1_0", None, float("nan"), Decimal("0.5"), 10**400, False])
)


def judged(ids: st.SearchStrategy[object], grades: st.SearchStrategy[object]) -> object:
    return st.dictionaries(ids, st.dictionaries(ids, grades, max_size=5), max_size=4)


@examples(200)
@given(
    judgments=st.one_of(judged(IDS, GRADES), judged(ODD_IDS, ODD_GRADES)),  # type: ignore[arg-type]
    texts=st.dictionaries(IDS, st.sampled_from(["red shoes", "", 'a "b"']), max_size=3),
    attributes=st.dictionaries(IDS, st.just({"locale": "en"}), max_size=2),
    scale=st.sampled_from([None, None, 2, 2.0**61]),
)
def test_dicts_become_columns_or_are_checked_one_by_one(
    judgments: Mapping[str, Mapping[str, float]],
    texts: Mapping[str, str],
    attributes: Mapping[str, Mapping[str, object]],
    scale: float | None,
) -> None:
    def read() -> GoldenSet:
        return GoldenSet.from_dict(judgments, texts, attributes=attributes, scale=scale)

    with replaced(contents_builder, "_columns_of", lambda judgments: None):
        one_by_one = outcome(read)
    assert outcome(read) == one_by_one


def test_a_golden_set_does_not_change_with_the_dicts_it_was_made_from() -> None:
    given = {"q": {"d": 1}}
    golden = GoldenSet.from_dict(given)
    given["q"]["d"] = 3
    given["r"] = {}
    assert dict(golden.grades("q")) == {"d": 1}
    assert golden.query_ids == ("q",)


# --- TREC qrels ----------------------------------------------------------------------------------

LINES = st.one_of(
    *[
        st.builds(
            lambda query, doc, grade, space: f"{query}{space}0{space}{doc}{space}{grade}",
            st.sampled_from(["q1", "q2", "é"]),
            st.sampled_from(["d1", "d2", "d3", "\N{NO-BREAK SPACE}", "\0"]),
            st.sampled_from(["0", "1", "1", "2.0", "01"]),
            st.sampled_from([" ", " ", " ", "\t", "  "]),
        )
    ]
    * 8,
    st.sampled_from(
        ["# comment", "#q1 0 d1 1", "", " \r", "\N{NO-BREAK SPACE}", " q1 0 d9 1", "q1 0 d8 1 "]
    ),
    st.sampled_from(["q1 0 d1", "q1 0 d1 high", "q1 0 d1 1 2", "q1 0 d1 nan", "\udcff 0 d 1"]),
)


@examples(200)
@given(
    lines=st.lists(LINES, max_size=12),
    end=st.sampled_from(["\n", "\r\n", ""]),
    rule=st.sampled_from(RULES),
)
def test_qrels_are_read_alike_by_polars_as_columns_and_line_by_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, rule: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "web.qrels"
    text = (end or "\n").join(lines) + end
    file.write_bytes(text.encode("utf-8", "surrogateescape"))

    def read() -> GoldenSet:
        return GoldenSet.load(file, "trec", contradictions=rule)  # type: ignore[arg-type]

    whole = outcome(read)
    with replaced(trec_columns, "BLOCK_BYTES", 1):  # by line
        found = outcome(read)
    # With several mistakes, columns may name another one first.
    assert found == whole or (isinstance(found, str) and isinstance(whole, str))
    if HAS_POLARS:
        with replaced(trec_columns, "polars_should_read", lambda path: True):
            assert outcome(read) == whole


# --- tables --------------------------------------------------------------------------------------

ROWS = """query_id,query,doc_id,relevance,title,grade_scale,locale,price,candidate
q1,red,d1,2,A,3,en,1.5,1
q2,blue,d1,0,A,3,de,2,1
q1,red,d2,1,,3,en,,0
q1,red,d1,2,A,3,en,1.5,1
q2,blue,d3,,B,3,de,4,1
q3,,,,,,de,,
q2,blue,d1,1,A,3,de,2,1
"""


@NEEDS_POLARS
@pytest.mark.parametrize("rule", RULES)
def test_tables_of_all_kinds_are_read_alike(tmp_path: Path, rule: str) -> None:
    """In batches of any size; errors differ only in the place that they name."""
    import polars as pl

    (tmp_path / "web.csv").write_text(ROWS)
    frame = pl.read_csv(tmp_path / "web.csv", infer_schema=False)
    frame.write_parquet(tmp_path / "web.parquet")
    given: dict[str, Any] = {"contradictions": rule, "name": "web"}
    frames = (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow())
    reads = [partial(GoldenSet.from_frame, each, **given) for each in frames]
    reads += [
        partial(GoldenSet.load, tmp_path / f"web.{ending}", ending, **given)
        for ending in ("csv", "parquet")
    ]
    fingerprints = set()
    for read in reads:
        whole = outcome(read)
        for batch_rows in (1, 3):
            with replaced(judgment_batches, "BATCH_ROWS", batch_rows):
                assert outcome(read) == whole
        assert isinstance(whole, str) == (rule == "error")
        fingerprints.add("error" if isinstance(whole, str) else whole[5])  # type: ignore[index]
    assert len(fingerprints) == 1
