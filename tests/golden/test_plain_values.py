"""Values of every common library become plain numbers, booleans and text, in one way."""

import datetime
import decimal
import fractions
import json
import math
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError
from pytest_rankcheck.files.plain_values import plain_value
from tests.libraries import NEEDS_POLARS

UTC = datetime.UTC
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5)
ID = uuid.UUID(int=7)


class ArrowScalar:
    """A scalar as Arrow has them."""

    def __init__(self, value: object) -> None:
        self.value = value

    def as_py(self) -> object:
        return self.value


VALUES: list[tuple[object, object]] = [
    (3, 3),
    (3.0, 3),
    (2.5, 2.5),
    (True, True),
    ("007", "007"),
    (np.int8(3), 3),
    (np.float32(0.5), 0.5),
    (np.float64(4), 4),
    (np.bool_(True), True),
    (np.str_("a"), "a"),
    (np.array([1.0, 2.5]), [1, 2.5]),
    (np.array(3), 3),
    (decimal.Decimal("1.50"), 1.5),
    (decimal.Decimal(2**60), 2**60),
    (fractions.Fraction(1, 4), 0.25),
    (ArrowScalar(decimal.Decimal(2)), 2),
    (ArrowScalar(MOMENT), "2026-01-02T03:04:05"),
    (MOMENT, "2026-01-02T03:04:05"),
    (MOMENT.replace(tzinfo=UTC), "2026-01-02T03:04:05+00:00"),
    (datetime.date(2026, 1, 2), "2026-01-02"),
    (datetime.time(3, 4), "03:04:00"),
    (pd.Timestamp(MOMENT), "2026-01-02T03:04:05"),
    (pd.Timestamp("2026-01-02T03:04:05.123456789"), "2026-01-02T03:04:05.123456"),
    (np.datetime64("2026-01-02T03:04:05.123456789"), "2026-01-02T03:04:05.123456"),
    (np.datetime64("2026-01-02T03:04:05"), "2026-01-02T03:04:05"),
    (ID, "00000000-0000-0000-0000-000000000007"),
    (("a", np.int8(1)), ["a", 1]),
    ({"b", "a"}, ["a", "b"]),
    ({"a": np.int8(1)}, {"a": 1}),
    (None, None),
    (math.nan, None),
    (np.float32("nan"), None),
    (decimal.Decimal("NaN"), None),
    (pd.NA, None),
    (pd.NaT, None),
    (np.datetime64("NaT", "ns"), None),
]


def test_a_value_becomes_plain() -> None:
    for value, plain in VALUES:
        made = plain_value(value)
        assert made == plain, value
        assert type(made) is type(plain), value
        json.dumps(made)


def test_a_value_of_another_type_is_an_error() -> None:
    for value in (
        b"a",
        1j,
        object(),
        MOMENT - MOMENT,
        pd.Timedelta(1),
        np.timedelta64(1, "ns"),
        pd.Interval(0, 3),
    ):
        with pytest.raises(TypeError, match=r"a value of type \w+ is not supported; convert it to"):
            plain_value(value)
        with pytest.raises(GoldenSetError, match="query 'q': attribute 'x': a value of type"):
            GoldenSet.from_dict({"q": {"d": 1}}, attributes={"q": {"x": value}})
        frame = pd.DataFrame(
            {"query_id": ["q", "q"], "doc_id": ["d", "e"], "relevance": [1, 0], "x": [1, value]}
        )
        with pytest.raises(
            GoldenSetError,
            match=r"judgments, row [12]: column 'x': a value of type",
        ):
            GoldenSet.from_frame(frame)


FEATURES = {
    "day": [MOMENT, MOMENT.replace(day=9), MOMENT, MOMENT.replace(microsecond=5)],
    "price": [decimal.Decimal("1.5"), decimal.Decimal(2), None, decimal.Decimal("-0.25")],
    "owner": [uuid.UUID(int=n) for n in range(4)],
    "is_new": [True, False, None, True],
    "count": np.array([1, 2, 3, 4], dtype=np.int16),
    "kind": pd.Categorical(["x", "y", "x", None]),
    "size": [2.0, math.inf, -math.inf, 0.1],
    "mixed": [1, "a", 2.5, True],
}


def frame_of(columns: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": ["q", "q", "r", "r"],
            "doc_id": [*"abab"],
            "relevance": [1, 0, 2, 1],
            **columns,
        }
    )


@NEEDS_POLARS
@pytest.mark.parametrize("name", [*FEATURES, "all"])
def test_the_fingerprint_of_the_same_content_is_the_same(tmp_path: Path, name: str) -> None:
    frame = frame_of(FEATURES if name == "all" else {name: FEATURES[name]})
    golden = GoldenSet.from_frame(frame)
    assert golden.contents.candidates
    assert not golden.attributes
    sets = [GoldenSet.from_frame(frame.astype({"query_id": "category", "doc_id": "category"}))]
    with np.errstate(invalid="ignore"):  # pandas 2.2 casts infinity to see whether it is whole
        sets.append(GoldenSet.from_frame(frame.convert_dtypes()))
    for ending in ("csv", "tsv", "parquet"):
        file = tmp_path / f"a.{ending}"
        golden.save(file)
        sets.append(GoldenSet.load(file))
        assert file.read_bytes()
        sets[-1].save(file)
        sets.append(GoldenSet.load(file))
    assert {one.fingerprint for one in sets} == {golden.fingerprint}


def test_candidate_columns_are_numbers_booleans_and_text() -> None:
    candidates = GoldenSet.from_frame(frame_of(FEATURES)).candidates
    assert list(candidates["price"])[:2] == [1.5, 2]
    assert list(candidates["is_new"]) == [True, False, None, True]
    assert list(candidates["count"]) == [1, 2, 3, 4]
    assert list(candidates["kind"])[:3] == ["x", "y", "x"]
    assert list(candidates["size"]) == [2, math.inf, -math.inf, 0.1]
    assert list(candidates["mixed"]) == ["1", "a", "2.5", "true"]
    assert candidates["day"][3] == "2026-01-02T03:04:05.000005"


def test_attributes_are_plain_whatever_the_reader(tmp_path: Path) -> None:
    values = {"when": MOMENT, "n": np.int64(3), "new": np.bool_(True), "tags": np.array(["a", "b"])}
    plain = {"when": "2026-01-02T03:04:05", "n": 3, "new": True, "tags": ["a", "b"]}
    golden = GoldenSet.from_dict({"q": {"d": 1}}, {"q": "red"}, attributes={"q": values})
    queries = pd.DataFrame([{"query_id": "q", "query": "red", **values}])
    judgments = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1]})
    golden.save(tmp_path / "a.jsonl")
    for one in (
        golden,
        GoldenSet.from_frame(judgments, queries),
        GoldenSet.from_frame(judgments.assign(**{key: [value] for key, value in values.items()})),
        GoldenSet.load(tmp_path / "a.jsonl"),
    ):
        assert one.query("q").attributes == plain
        assert one.subset(when="2026-01-02T03:04:05", new=True, n=3).query_ids == ("q",)
