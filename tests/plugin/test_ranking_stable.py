"""Rankings compared with their baseline: created, kept, refused, approved, stale."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from project import Project, text_of

import pytest_rankcheck.baselines.record as record_module
from pytest_rankcheck import BaselineError, Record

SCHEMA = json.loads(Path(record_module.__file__).with_suffix(".schema.json").read_text("utf-8"))

TEST = """
from pytest_rankcheck import assert_ranking_stable

def test_mrr(ranking_run, baseline):
    assert_ranking_stable(ranking_run, baseline{limits})
"""


@pytest.fixture
def unjudged(project: Project) -> Project:
    project.golden([{"query_id": f"q{index:03}", "query": f"query {index}"} for index in range(80)])
    project.test(TEST.format(limits=""))
    return project


def test_a_missing_baseline_is_reported_and_an_update_writes_it(unjudged: Project) -> None:
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "the rankings on golden set 'web' (80 queries) have no baseline" in text_of(result)
    before = unjudged.update()
    record = unjudged.record()
    assert record["metrics"] == {}
    assert record["queries"][0]["top"][0] == "doc of query 0"
    result = unjudged.run()
    result.assert_outcomes(passed=1)
    assert "(80 queries): all rankings are the same as in the baseline" in text_of(result)
    assert unjudged.update() == before


def test_changes_are_shown_with_both_rankings(unjudged: Project) -> None:
    before = unjudged.update()
    unjudged.rank({3: 9, 4: 2})
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*the rankings on golden set 'web' (80 queries) differ from the baseline",
            "*2 of 80 rankings changed; RBO of the top 10: mean *, lowest *",
            "*every query must have RBO(p=0.9) at least 0.9: 1 query does not",
            "*worst queries",
            "*q003   RBO(p=0.9) 0.*",
            "*before  doc of query 3  filler-0*",
            "*now     filler-0  filler-1*",
            "*baseline: tests/baselines/test_ranking/test_mrr--web.json (unchanged)",
            '*to approve: pytest tests/test_ranking.py::test_mrr --snapshot-update*',
        ]
    )  # fmt: skip
    result = unjudged.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert "update refused: the rankings on" in text_of(result)
    assert unjudged.baseline_file().read_bytes() == before
    assert unjudged.run("--snapshot-update", "--rankcheck-approve", "new index").ret == 0
    approval = unjudged.record()["approvals"][0]
    assert (approval["reason"], approval["change"]) == ("new index", "2 rankings changed")
    unjudged.run().assert_outcomes(passed=1)


def test_changes_within_the_limits_do_not_add_up(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits=", min_rbo=None, max_changed_queries=2"))
    before = unjudged.update()
    unjudged.rank({1: 2, 2: 2})
    assert unjudged.update() == before
    unjudged.rank({1: 2, 2: 2, 3: 2})
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "at most 2 may change: too many did" in text_of(result)


def test_allowed_queries_are_listed_and_do_not_add_up(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits=", allowed_queries=2"))
    before = unjudged.update()
    unjudged.rank({3: 9, 4: 9})
    result = unjudged.run()
    result.assert_outcomes(passed=1)
    assert "; 2 queries are beyond the limits, 2 allowed: q003, q004" in text_of(result)
    assert unjudged.update() == before, "allowed queries are not recorded"
    unjudged.rank({3: 9, 4: 9, 5: 9})
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "RBO(p=0.9) at least 0.9: 3 queries do not, 2 allowed" in text_of(result)
    unjudged.run("--snapshot-update").assert_outcomes(failed=1)
    assert unjudged.baseline_file().read_bytes() == before


def test_a_baseline_of_other_queries_is_stale(unjudged: Project) -> None:
    unjudged.update()
    unjudged.golden([{"query_id": f"q{index:03}", "query": f"query {index}"} for index in range(9)])
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "the baseline of its rankings is stale" in text_of(result)
    assert "71 queries removed since the baseline" in text_of(result)
    assert unjudged.run("--snapshot-update").ret == 0
    unjudged.run().assert_outcomes(passed=1)
    unjudged.golden([{"query_id": f"x{index:03}", "query": f"query {index}"} for index in range(9)])
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "queries of 'web' in the baseline have changed" in text_of(result)


def test_the_evaluation_knows_the_texts(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits="").replace("ranking_run", "evaluation"))
    unjudged.update()
    lines = [{"query_id": f"q{index:03}", "query": f"query {index}"} for index in range(80)]
    lines[5]["query"] = "another text"
    unjudged.golden(lines)
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    assert "1 query changed since the baseline: q005" in text_of(result)


def test_rankings_deeper_than_ten_are_recorded(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits=", k=12"))
    unjudged.update()
    assert unjudged.record()["top"] == 12
    assert len(unjudged.record()["queries"][0]["top"]) == 12


def test_metrics_and_rankings_share_a_baseline(project: Project) -> None:
    project.test(
        """
from pytest_rankcheck import assert_mrr_not_regressed, assert_ranking_stable

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.5)
    assert_ranking_stable(evaluation, baseline, min_rbo=None, max_changed_queries=0)
"""
    )
    project.update()
    assert list(project.record()["metrics"]) == ["RR"]
    project.rank({3: 12})
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "differ from the baseline" in text_of(result)
    assert project.run("--snapshot-update", "--rankcheck-approve", "why").ret == 0
    approval = project.record()["approvals"][0]
    assert approval["fall"]["RR"]["from"] == 1.0


@pytest.mark.parametrize(
    "arguments", [pytest.param(("-n", "2"), marks=pytest.mark.slow), ("--assert=plain",)]
)
def test_rankings_are_checked_with_any_pytest_options(
    unjudged: Project, arguments: tuple[str, ...]
) -> None:
    unjudged.update()
    unjudged.rank({3: 9})
    result = unjudged.run(*arguments)
    result.assert_outcomes(failed=1)
    assert "1 of 80 rankings changed" in text_of(result)


def test_invalid_runs_and_baselines_are_refused(unjudged: Project) -> None:
    unjudged.test(
        """
import pytest
from pytest_rankcheck import ConfigurationError, assert_ranking_stable

def test_it(ranking_run, baseline):
    with pytest.raises(ConfigurationError, match="ranking_run must be a Run or an Evaluation, not "):
        assert_ranking_stable({}, baseline)
    with pytest.raises(ConfigurationError, match="baseline must be a Baseline, not .*; write baseline, with the fixture"):
        assert_ranking_stable(ranking_run, ranking_run)
"""
    )
    unjudged.run().assert_outcomes(passed=1)


def test_one_test_can_check_a_run_against_several_limits(unjudged: Project) -> None:
    unjudged.test(
        TEST.format(limits="")
        + "    assert_ranking_stable(ranking_run, baseline, min_overlap=0.9, k=5)\n"
    )
    unjudged.update()
    unjudged.run().assert_outcomes(passed=1)


LONG_ENGINE = """
from pathlib import Path

def search(text, depth):
    ids = [f"d{place}" for place in range(200)]
    if Path("changed").exists():
        ids[40:] = reversed(ids[40:])
    return ids[:depth]
"""


def test_a_k_beyond_the_depth_is_an_error(unjudged: Project) -> None:
    unjudged.write("engine.py", LONG_ENGINE)
    unjudged.test(TEST.format(limits=", k=200"))
    result = unjudged.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    assert (
        "assert_ranking_stable looks at the first 200 documents of each ranking, but only 100 were "
        "asked for; rank to a depth of at least 200" in text_of(result)
    )
    assert not unjudged.baseline_file().exists()
    unjudged.run("--snapshot-update", "-o", "rankcheck_depth=200").assert_outcomes(passed=1)


def test_a_k_beyond_what_the_baseline_keeps_is_not_comparable(unjudged: Project) -> None:
    unjudged.write("engine.py", LONG_ENGINE)
    unjudged.test(TEST.format(limits=""))
    unjudged.update()
    unjudged.write("changed", "")
    unjudged.test(TEST.format(limits=", k=100"))
    result = unjudged.run()
    result.assert_outcomes(failed=1)
    text = text_of(result)
    assert "cannot be compared with their baseline" in text
    assert "rankings: the first 10 documents in the baseline, the first 100 now" in text
    unjudged.run("--snapshot-update").assert_outcomes(failed=1)
    unjudged.run("--snapshot-update", "--rankcheck-approve", "look deeper")
    unjudged.run().assert_outcomes(passed=1)


def test_a_run_in_a_large_file_is_compared_below_its_top(
    unjudged: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_rankcheck.rankers import run as module

    unjudged.write("engine.py", LONG_ENGINE)
    unjudged.test(TEST.format(limits=", min_rbo=None, min_overlap=0.9, k=50"))
    unjudged.update()
    unjudged.write("changed", "")
    unjudged.run("--rankcheck-save-run", "runs").assert_outcomes(failed=1)
    monkeypatch.setattr(module, "_SMALL_FILE_BYTES", 0)
    result = unjudged.run("--rankcheck-run", "runs")
    result.assert_outcomes(failed=1)
    assert "every query must have overlap@50 at least 0.9: 80 queries do not" in text_of(result)


OWN_GOLDEN_SET = """
import pytest
from pytest_rankcheck import GoldenSet

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/web.jsonl", name="own")
"""


@pytest.mark.parametrize("saved", ["runs", "runs/{}.jsonl"], ids=["folder", "file"])
@pytest.mark.parametrize("golden", ["web", "own"])
def test_a_run_ranked_elsewhere_has_the_same_baseline(
    unjudged: Project, golden: str, saved: str
) -> None:
    if golden == "own":
        unjudged.write("conftest.py", OWN_GOLDEN_SET)
        configuration = (unjudged.path / "pyproject.toml").read_text("utf-8")
        unjudged.write("pyproject.toml", configuration.replace("rankcheck_golden", "# "))
    unjudged.run("--snapshot-update", "--rankcheck-save-run", "runs").assert_outcomes(passed=1)
    gate = ("--rankcheck-run", saved.format(golden), "-o", "rankcheck_ranker=")
    result = unjudged.run(*gate)
    result.assert_outcomes(passed=1)
    assert f"golden set '{golden}' (80 queries): all rankings are the same" in text_of(result)
    run = unjudged.path / "runs" / f"{golden}.jsonl"
    run.write_text(run.read_text("utf-8").replace("filler-0", "other"), "utf-8")
    unjudged.run(*gate).assert_outcomes(failed=1)


def test_a_run_without_a_golden_set_has_a_baseline_of_its_own(unjudged: Project) -> None:
    unjudged.run("--snapshot-update", "--rankcheck-save-run", "runs").assert_outcomes(passed=1)
    alone = ("--rankcheck-run", "runs/web.jsonl", "-o", "rankcheck_golden=")
    unjudged.run("--snapshot-update", *alone).assert_outcomes(passed=1)
    assert unjudged.baseline_file(golden="web.jsonl").exists()


def approved(project: Project) -> dict[str, object]:
    """Return the last approval in the record."""
    approval: dict[str, object] = project.record()["approvals"][-1]
    return approval


def test_the_limits_are_recorded_in_a_fixed_order(unjudged: Project) -> None:
    first = "    assert_ranking_stable(ranking_run, baseline, min_overlap=0.9, k=5)\n"
    unjudged.test(TEST.format(limits="") + first)
    before = unjudged.update()
    entry = unjudged.record()
    assert entry["stability"] == [
        {"min_rbo": 0.9, "min_overlap": 0.9, "p": 0.9, "k": 5},
        {"min_rbo": 0.9, "p": 0.9, "k": 10},
    ]
    jsonschema.validate(entry, SCHEMA)
    unjudged.test(
        TEST.format(limits=", k=5, min_overlap=0.9") + first.replace("min_overlap=0.9, k=5", "k=10")
    )
    assert unjudged.update() == before


def test_a_record_without_compared_rankings_has_no_limits(project: Project) -> None:
    project.test()
    project.update()
    assert "stability" not in project.record()


def test_looser_limits_are_listed_and_recorded_with_a_reason(unjudged: Project) -> None:
    before = unjudged.update()
    unjudged.test(TEST.format(limits=", min_rbo=0.7, allowed_queries=3"))
    assert unjudged.update() == before
    result = unjudged.run()
    result.assert_outcomes(passed=1)
    text = (
        "the rankings were limited by min_rbo=0.9, p=0.9, k=10, and are limited by min_rbo=0.7, "
        "p=0.9, k=10, allowed_queries=3 now"
    )
    assert f"tests/test_ranking.py::test_mrr: {text}" in text_of(result)
    unjudged.run("--snapshot-update", "--rankcheck-approve", "half the memory")
    assert unjudged.record()["stability"] == [
        {"min_rbo": 0.7, "p": 0.9, "k": 10, "allowed_queries": 3}
    ]
    assert (approved(unjudged)["reason"], approved(unjudged)["change"]) == ("half the memory", text)
    assert "were limited by" not in text_of(unjudged.run())


def test_tighter_limits_are_recorded_without_a_reason(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits=", min_rbo=0.7"))
    unjudged.update()
    unjudged.test(TEST.format(limits=", min_rbo=0.8, max_changed_queries=2"))
    unjudged.rank({3: 2})
    unjudged.update()
    entry = unjudged.record()
    assert entry["stability"] == [{"min_rbo": 0.8, "max_changed_queries": 2, "p": 0.9, "k": 10}]
    assert entry["approvals"] == []
    assert entry["queries"][3]["top"][0] == "doc of query 3", "the changed ranking is not recorded"


def test_a_smaller_k_keeps_the_recorded_documents(unjudged: Project) -> None:
    unjudged.test(TEST.format(limits=", k=12"))
    before = unjudged.update()
    unjudged.test(TEST.format(limits=", k=3"))
    assert unjudged.update() == before


BOTH = """
from pytest_rankcheck import Gate, assert_mrr_not_regressed, assert_ranking_stable

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, gate=Gate.tolerance(abs=0.5))
    assert_ranking_stable(evaluation, baseline)
"""


def test_one_reason_covers_metrics_and_rankings(project: Project) -> None:
    project.test(BOTH)
    project.update()
    project.rank({3: 9, 4: 9})
    assert project.run("--snapshot-update", "--rankcheck-approve", "new index").ret == 0
    assert approved(project)["change"] == "2 rankings changed"
    assert approved(project)["fall"] == {"RR": {"from": 1.0, "to": 0.977778}}


def test_a_better_metric_does_not_rewrite_compared_rankings(project: Project) -> None:
    """RR rises, while two rankings change within the limits; a test without them follows."""
    project.rank({3: 2, 4: 2})
    project.test(BOTH)
    before = project.update()
    project.rank({})
    assert project.update() == before
    project.test(BOTH.replace("    assert_ranking_stable(evaluation, baseline)\n", ""))
    result = project.run("--snapshot-update")
    assert "the rankings are no longer compared with those of the baseline" in text_of(result)
    entry = project.record()
    assert entry["metrics"]["RR"]["mean"] == 1.0
    assert entry["stability"] == [{"min_rbo": 0.9, "p": 0.9, "k": 10}]
    assert entry["queries"][3]["top"][:2] == ["filler-0", "doc of query 3"]


def test_dropping_a_comparison_of_rankings_needs_a_reason(project: Project) -> None:
    project.test(BOTH)
    project.update()
    project.test(BOTH.replace("    assert_ranking_stable(evaluation, baseline)\n", ""))
    project.run("--snapshot-update", "--rankcheck-approve", "the index is rebuilt daily")
    assert "stability" not in project.record()
    assert (
        approved(project)["change"]
        == "the rankings are no longer compared with those of the baseline"
    )


def test_metrics_that_are_no_longer_gated_beside_rankings_need_a_reason(project: Project) -> None:
    project.test(BOTH)
    project.update()
    gate = "    assert_mrr_not_regressed(evaluation, baseline, gate=Gate.tolerance(abs=0.5))\n"
    project.test(BOTH.replace(gate, ""))
    project.run("--snapshot-update", "--rankcheck-approve", "no judgments any more")
    assert approved(project)["change"] == "RR is no longer gated"


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ([{"k": 10}], "no limit is set"),
        ([{"min_rbo": 0, "k": 10}], "min_rbo=0 can never fail"),
        ([{"min_rbo": "0.9", "k": 10}], "min_rbo='0.9' is invalid|min_rbo=0.9 is invalid"),
        ([{"min_rbo": 0.9, "least": 1}], "unexpected keyword argument 'least'"),
        (["min_rbo=0.9"], ""),
    ],
)
def test_limits_edited_into_nonsense_are_refused(
    unjudged: Project, limits: list[object], why: str
) -> None:
    unjudged.update()
    entry = unjudged.record()
    unjudged.baseline_file().write_text(json.dumps({**entry, "stability": limits}), "utf-8")
    with pytest.raises(BaselineError, match=f"this is not a baseline: .*({why})"):
        Record.load(unjudged.baseline_file())
