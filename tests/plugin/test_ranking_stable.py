"""Rankings compared with their baseline: created, kept, refused, approved, stale."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from gated_test import MRR, GatedTest
from project import Project

from pytest_rankcheck import BaselineError, MetricError, Record, assert_ranking_stable


@pytest.fixture
def gated(tmp_path: Path) -> GatedTest:
    """A test of the rankings of 80 queries without judgments."""
    gated = GatedTest(tmp_path)
    gated.golden(queries("q", 80))
    limit(gated)
    return gated


def queries(prefix: str, count: int) -> list[dict[str, Any]]:
    return [{"query_id": f"{prefix}{n:03}", "query": f"query {n}"} for n in range(count)]


def limit(gated: GatedTest, **limits: Any) -> None:
    gated.assertions = (partial(assert_ranking_stable, **limits),)


def test_a_missing_baseline_is_reported_and_an_update_writes_it(gated: GatedTest) -> None:
    missing = "the rankings on golden set 'web' (80 queries) have no baseline"
    assert missing in gated.run().failure
    before = gated.update()
    assert gated.record["metrics"] == {}
    assert gated.record["queries"][0]["top"][0] == "doc of query 0"
    outcome = gated.run()
    assert outcome.passed
    assert "(80 queries): all rankings are the same as in the baseline" in outcome.text
    assert gated.update() == before


def test_changes_are_shown_with_both_rankings(gated: GatedTest) -> None:
    before = gated.update()
    gated.rank({3: 9, 4: 2})
    failure = gated.run().failure
    for text in (
        "the rankings on golden set 'web' (80 queries) differ from the baseline",
        "2 of 80 rankings changed; RBO of the top 10: mean ",
        "allowed: min_rbo=0.9, p=0.9, k=10; 1 query beyond",
        "the queries that differ most",
        'q003 "query 3"   RBO(p=0.9) 0.',
        "before  1 doc of query 3   2 filler-0",
        "now     1 filler-0   2 filler-1",
        "baseline: test_mrr--web.json (unchanged)",
        "to approve: pytest tests/test_ranking.py::test_mrr --rankcheck-approve",
    ):
        assert text in failure
    assert "update refused: the rankings on" in gated.run(update=True).failure
    assert gated.path.read_bytes() == before
    assert gated.run(approve="new index").passed
    (approval,) = gated.record["approvals"]
    assert approval["keys"] == {"rankings": {"from": None, "to": 2}}
    assert gated.run().passed


def test_changes_within_the_limits_do_not_add_up(gated: GatedTest) -> None:
    for limits, passes, fails in (
        (
            {"min_rbo": None, "max_changed_queries": 2},
            "2 of 80 rankings changed",
            "max_changed_queries=2, k=10; 0 queries beyond; too many changed",
        ),
        (
            {"allowed_queries": 2},
            "; 2 queries are beyond the limits, 2 allowed: q003, q004",
            "k=10, allowed_queries=2; 3 queries beyond",
        ),
    ):
        gated.path.unlink(missing_ok=True)
        limit(gated, **limits)
        gated.rank({})
        before = gated.update()
        gated.rank({3: 9, 4: 9})
        assert passes in gated.run().text
        assert gated.update() == before
        gated.rank({3: 9, 4: 9, 5: 9})
        assert fails in gated.run().failure
        assert not gated.run(update=True).passed
        assert gated.path.read_bytes() == before


def test_metrics_and_rankings_share_a_baseline_and_an_approval(gated: GatedTest) -> None:
    gated.golden(Project.queries())
    gated.assertions = (partial(MRR, abs=0.5), assert_ranking_stable)
    gated.update()
    assert list(gated.record["metrics"]) == ["RR"]
    gated.rank({3: 9, 4: 9})
    assert "differ from the baseline" in gated.run().failure
    assert gated.run(approve="new index").passed
    keys = gated.record["approvals"][0]["keys"]
    assert keys["rankings"] == {"from": None, "to": 2}
    assert keys["fall:RR"] == {"from": 1.0, "to": pytest.approx(0.977778, abs=1e-6)}
    gated.assertions = (partial(MRR, abs=0.5),)
    gated.run(approve="the index is rebuilt daily")
    assert "limits" not in gated.record
    limits = {"from": "min_rbo=0.9, p=0.9, k=10", "to": None}
    assert gated.record["approvals"][-1]["keys"]["limits"] == limits


def test_a_k_beyond_the_depth_or_what_the_baseline_keeps_is_refused(gated: GatedTest) -> None:
    gated.search = lambda text: [f"d{place}" for place in range(gated.depth)]
    limit(gated, k=200)
    text = "the first 200 documents of each ranking, but only 100 were asked for; measure at"
    with pytest.raises(MetricError, match=text):
        gated.run(update=True)
    assert not gated.path.exists()
    limit(gated)
    gated.update()
    limit(gated, k=100)
    failure = gated.run().failure
    assert "cannot be compared with their baseline" in failure
    assert "rankings: the first 10 documents in the baseline, the first 100 now" in failure
    assert not gated.run(update=True).passed
    assert gated.run(approve="look deeper").passed
    assert gated.run().passed


def test_limits_edited_into_nonsense_are_refused(gated: GatedTest) -> None:
    gated.update()
    entry = gated.record
    for limits, why in (
        ([{"k": 10}], "no limit is set"),
        ([{"min_rbo": 0, "k": 10}], "min_rbo=0 is invalid"),
        ([{"min_rbo": "0.9", "k": 10}], "min_rbo='0.9' is invalid|min_rbo=0.9 is invalid"),
        ([{"min_rbo": 0.9, "least": 1}], "unexpected keyword argument 'least'"),
        (["min_rbo=0.9"], ""),
    ):
        gated.path.write_text(json.dumps({**entry, "limits": limits}), "utf-8")
        with pytest.raises(BaselineError, match=f"this is not a baseline: .*({why})"):
            Record.load(gated.path)
