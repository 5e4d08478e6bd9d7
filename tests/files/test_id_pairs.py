"""Columns of ids, and the pairs of equal ids in them."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_rankcheck.files.id_columns import HeldIds, IdColumn, NumberIds, TextIds, number_spelled
from pytest_rankcheck.files.id_pairs import keys_of, rows_with_equal_keys, same_ids

pl = pytest.importorskip("polars", reason="polars is not installed")


@pytest.mark.parametrize(
    "column",
    [
        HeldIds(["7", "-3", "0"]),
        TextIds(pl.Series(["7", "-3", "0"])),
        NumberIds(np.array([7, -3, 0])),
    ],
)
def test_every_column_gives_its_ids(column: IdColumn) -> None:
    assert len(column) == 3
    assert column.texts() == ["7", "-3", "0"]
    assert column.texts(np.array([2, 0])) == ["0", "7"]
    assert column.part(1, 3).texts() == ["-3", "0"]
    assert column.reordered(np.array([1, 1])).texts() == ["-3", "-3"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("-12", -12),
        ("0", 0),
        ("-0", None),
        ("07", None),
        ("1.0", None),
        ("", None),
        ("-", None),
        ("٣", None),
        ("²", None),
        ("1_000", None),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, 10**19 - 1),
        ("9" * 4001, None),
        ("d7", None),
    ],
)
def test_a_number_spells_an_id_in_one_way(text: str, number: int | None) -> None:
    assert number_spelled(text) == number


def test_ids_that_numbers_of_64_bits_spell_are_found_with_their_rows() -> None:
    texts = ["d7", "7", "007", str(2**63), str(-(2**63)), "-0", "12"]
    found, rows = NumberIds.among(texts)
    assert found.ids.tolist() == [7, -(2**63), 12]
    assert rows.tolist() == [1, 4, 6]


def test_equal_ids_of_a_group_are_pairs() -> None:
    column = NumberIds(np.array([5, 5, 5, 8, 5, 8]))
    groups = np.array([0, 1, 0, 1, 0, 1])
    first, second = rows_with_equal_keys(keys_of(column), groups)
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 2), (2, 4), (3, 5)]


def test_ids_that_share_a_key_are_told_apart() -> None:
    keys = np.array([1, 1, 1], dtype=np.uint64)
    first, second = rows_with_equal_keys(keys, np.zeros(3, dtype=np.int64))
    column = TextIds(pl.Series(["a", "b", "b"]))
    assert same_ids(column, first, column, second).tolist() == [False, True]


def test_missing_text_equals_nothing() -> None:
    column, rows = TextIds(pl.Series([None, "a"])), np.array([0, 1])
    assert same_ids(column, rows, column, rows).tolist() == [False, True]
