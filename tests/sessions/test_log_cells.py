"""Lists of ids that are split a column at a time are those that are split one by one."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck.sessions.log_cells import id_list_of, id_of, plain_lists

IDS = st.sampled_from(["d1", "d2", "é", "null", "[x]", "[]", "", " ", "a b", "\n", "\x1c", "1.5"])
CELLS = st.lists(
    st.builds(str.join, st.sampled_from(["|", ";", ",", " ", "|;"]), st.lists(IDS, max_size=4)),
    max_size=5,
)


@given(cells=CELLS)
@example(cells=["d1|d2", "d1\nd2"])
@example(cells=["d1\x1cd2"])
@example(cells=["d1", "NULL"])
@example(cells=["d1", '["d2"]'])
@example(cells=["d1|d2", "d1;d2"])
def test_a_column_is_split_as_its_cells_are(cells: list[str]) -> None:
    found = plain_lists(cells)
    if found is None:
        return
    each = [id_list_of(cell) for cell in cells]
    assert found == (
        [len(ids or ()) for ids in each],
        list(chain.from_iterable(filter(None, each))),
    )
    assert None not in each


@pytest.mark.parametrize(
    ("cells", "split"),
    [
        (["d1|d2", "d3"], ([2, 1], ["d1", "d2", "d3"])),
        (["d1,d2", "null,d3"], ([2, 2], ["d1", "d2", "null", "d3"])),
        (["d1", "d2"], ([1, 1], ["d1", "d2"])),
        (["d1|d2", "d3 "], None),
        (["d1||d2"], None),
        ([], None),
        ([None, "d1"], None),
    ],
)
def test_plain_lists(cells: list[object], split: tuple[list[int], list[str]] | None) -> None:
    assert plain_lists(cells) == split


def test_a_float_that_may_be_rounded_is_no_id() -> None:
    assert id_of(2.0**53 - 1) == "9007199254740991"
    with pytest.raises(ValueError, match="is not an id; ids are text or whole numbers"):
        id_of(2.0**53)
    assert id_of(2**60 + 1) == "1152921504606846977"
