"""A fall of a metric that looks below the documents that a record keeps names what left its top."""

from functools import partial
from pathlib import Path

import pytest
from gated_test import GatedTest

from pytest_rankcheck import assert_not_regressed
from pytest_rankcheck.baselines.register import Defaults


@pytest.fixture
def deep(tmp_path: Path) -> GatedTest:
    gated = GatedTest(tmp_path)
    gated.assertions = (partial(assert_not_regressed, metric="R@20", abs=0.01),)
    gated.fillers = 40
    gated.rank(dict.fromkeys(range(10), 15))
    gated.update()
    return gated


def test_the_document_that_left_rank_20_is_named_with_both_ranks(deep: GatedTest) -> None:
    queries = deep.record["queries"]
    assert queries[3]["below"] == {"doc of query 3": 15}
    assert "below" not in queries[30]
    # A harmless swap at the top of one query, and a fall below rank 20 of others.
    deep.rank({**dict.fromkeys(range(10), 15), 3: 27, 4: 33, 30: 2})
    text = deep.run().text
    assert "doc of query 3 (grade 2)  15 -> 27" in text
    assert "doc of query 4 (grade 2)  15 -> 33" in text
    assert "2 relevant documents left the top 20" in text
    assert "doc of query 30" not in text


def test_what_was_below_stays_as_it_was_approved(deep: GatedTest) -> None:
    before = deep.path.read_bytes()
    deep.rank(dict.fromkeys(range(10), 18))
    assert deep.update() == before
    assert deep.run(approve="no harm").passed
    assert deep.record["queries"][3]["below"] == {"doc of query 3": 18}


def test_a_record_that_keeps_no_documents_keeps_no_ranks(deep: GatedTest) -> None:
    deep.defaults = Defaults(kept_depth=0)
    deep.path.unlink()
    deep.update()
    assert not any("below" in line for line in deep.record["queries"])
