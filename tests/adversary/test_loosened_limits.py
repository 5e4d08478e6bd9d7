"""Rankings are compared within looser limits, or no longer."""

from __future__ import annotations

from pull_request import PullRequest, blocked, kept, listed, passes, refused

LOOSER = "pass only with looser limits"


def with_limits(*limits: str) -> str:
    """Return a test that compares rankings within limits, once for each text."""
    lines = [f"    assert_ranking_stable(ranking_run, baseline, {each})\n" for each in limits]
    return (
        "from pytest_rankcheck import assert_ranking_stable\n\n"
        "def test_same(ranking_run, baseline):\n" + "".join(lines)
    )


def stable(main: PullRequest) -> None:
    """The rankings of all queries must have RBO of at least 0.85."""
    main.test(with_limits("min_rbo=0.85"))


def shallow(main: PullRequest) -> None:
    """The first three documents of all queries must have RBO of at least 0.75."""
    main.test(with_limits("min_rbo=0.75, k=3"))


def unchanged(main: PullRequest) -> None:
    """No ranking may change in its first ten documents."""
    main.test(with_limits("min_rbo=None, max_changed_queries=0, k=10"))


def alike(main: PullRequest) -> None:
    """Kendall's distance and the AP correlation are limited."""
    main.test(with_limits("min_rbo=None, max_kendall=0.05, min_tau_ap=0.9"))


def overlapping(main: PullRequest) -> None:
    """The first ten documents must stay, and their order be about the same."""
    main.test(with_limits("min_rbo=None, min_overlap=1", "min_rbo=0.1, k=5"))


def deep(main: PullRequest) -> None:
    """No ranking may change in its first twelve documents."""
    main.test(with_limits("min_rbo=None, max_changed_queries=0, k=12"))


def beside_a_metric(main: PullRequest) -> None:
    """R@100 must not fall, and the rankings must have RBO of at least 0.85."""
    main.test(BESIDE_A_METRIC)


BESIDE_A_METRIC = """
from pytest_rankcheck import assert_ranking_stable, assert_recall_not_regressed

def test_both(evaluation, baseline):
    assert_recall_not_regressed(evaluation, baseline, k=100)
    assert_ranking_stable(evaluation, baseline, min_rbo=0.85)
"""
ANOTHER = "def test_other(evaluation):\n    pass\n"


def two_queries(branch: PullRequest, rank: int | None) -> None:
    """Change the rank of the relevant document in two queries."""
    branch.rank({**branch.main_ranks, 0: rank, 1: rank})


# --- looser ----------------------------------------------------------------------------------


@blocked(LOOSER, "min_rbo=0.85", "q000", main=stable)
def test_a_lower_overlap_weighted_by_rank(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.1."""
    branch.worsen_and_edit("0.85", "0.1")


@blocked(LOOSER, "min_rbo=0.85", main=stable)
def test_more_queries_are_allowed(branch: PullRequest) -> None:
    """`allowed_queries` goes from 0 to 50."""
    branch.worsen_and_edit("0.85", "0.85, allowed_queries=50")


@blocked(LOOSER, "min_rbo=0.85, p=0.9", main=stable)
def test_more_patience(branch: PullRequest) -> None:
    """`p` goes from 0.9 to 0.99, which weighs the first documents less."""
    branch.worsen_and_edit("0.85", "0.85, p=0.99")


@blocked(LOOSER, "min_rbo=0.85", main=stable)
def test_another_limit_instead(branch: PullRequest) -> None:
    """`min_rbo` is replaced by a limit that the worse ranker keeps."""
    branch.worsen_and_edit("min_rbo=0.85", "min_rbo=None, min_overlap=0.9")


@blocked(LOOSER, "min_rbo=0.75, p=0.9, k=3", main=shallow)
def test_a_larger_k(branch: PullRequest) -> None:
    """`k` goes from 3 to 10, where the document that fell is still found."""
    branch.worsen_and_edit("k=3", "k=10")


@blocked(LOOSER, "max_changed_queries=0, k=10", main=unchanged)
def test_more_rankings_may_change(branch: PullRequest) -> None:
    """`max_changed_queries` goes from 0 to half of them."""
    branch.worsen_and_edit("queries=0", "queries=0.5")


@blocked(LOOSER, "max_changed_queries=0, k=10", main=unchanged)
def test_a_smaller_k(branch: PullRequest) -> None:
    """`k` goes from 10 to 1; the rankings change below the first document."""
    branch.rank(dict.fromkeys(range(70, 80), 3))
    branch.edit_test("k=10", "k=1")


@blocked(LOOSER, "max_changed_queries=0, k=12", main=deep)
def test_a_smaller_k_in_advance(branch: PullRequest) -> None:
    """`k` goes from 12 to 10 in one pull request; rankings change below that in the next."""
    branch.edit_test("k=12", "k=10")
    branch.update()
    branch.merge()
    branch.rank(dict.fromkeys(range(70, 80), 3))
    branch.edit_test("k=10", "k=1")


@blocked(LOOSER, "max_kendall=0.05", main=alike)
def test_a_larger_distance(branch: PullRequest) -> None:
    """`max_kendall` goes from 0.05 to 0.9, and `min_tau_ap` from 0.9 to -0.9."""
    branch.worsen_and_edit("max_kendall=0.05, min_tau_ap=0.9", "max_kendall=0.9, min_tau_ap=-0.9")


@blocked(LOOSER, "min_tau_ap=0.9", main=alike)
def test_a_limit_removed(branch: PullRequest) -> None:
    """`min_tau_ap` is removed, and the other limit wide."""
    branch.worsen_and_edit("max_kendall=0.05, min_tau_ap=0.9", "max_kendall=0.9")


@blocked(LOOSER, "min_overlap=1", main=overlapping)
def test_one_of_two_comparisons_removed(branch: PullRequest) -> None:
    """The stricter of two comparisons of rankings is removed."""
    two_queries(branch, None)
    branch.test(with_limits("min_rbo=0.1, k=5"))


@blocked(LOOSER, "min_rbo=0.85", main=stable)
def test_limits_loosened_in_advance(branch: PullRequest) -> None:
    """`min_rbo` is lowered in one pull request; the worse ranker follows in the next."""
    branch.edit_test("0.85", "0.1")
    branch.update()
    branch.merge()
    branch.make_the_ranker_worse()


@kept("the rankings were limited by min_rbo=0.85, p=0.9, k=10, and are limited by", main=stable)
def test_an_update_with_looser_limits(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.1, and the baseline is updated."""
    branch.worsen_and_edit("0.85", "0.1")


@blocked("differ from the baseline", "the rankings were limited by", main=stable)
def test_looser_limits_recorded_anew(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.8, which the ranker does not reach; all is recorded anew."""
    branch.worsen_and_edit("0.85", "0.8")
    branch.record_anew()


@blocked("without a reason", "the rankings were limited by", main=stable)
def test_looser_limits_alone_recorded_anew(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.1, and the baseline is recorded anew; the ranker is the same."""
    branch.edit_test("0.85", "0.1")
    branch.record_anew()


@blocked("without a reason", "the rankings were limited by", main=stable)
def test_limits_loosened_in_the_record(branch: PullRequest) -> None:
    """`min_rbo` is lowered in the test and, by hand, in the record."""
    branch.edit_test("0.85", "0.1")
    branch.edit_record(lambda entry: entry["stability"][0].update(min_rbo=0.1))


@blocked("without a reason", "the rankings are no longer compared", main=stable)
def test_limits_removed_from_the_record(branch: PullRequest) -> None:
    """The limits are removed from the record by hand, and loosened in the test."""
    branch.edit_test("0.85", "0.1")
    branch.edit_record(lambda entry: entry.pop("stability"))


@blocked(LOOSER, "min_rbo=0.85", main=stable)
def test_a_moved_baseline_with_looser_limits(branch: PullRequest) -> None:
    """The test is renamed, its baseline moved along, and `min_rbo` lowered."""
    branch.worsen_and_edit("def test_same", "def test_alike")
    branch.edit_test("0.85", "0.1")
    path = branch.record_path
    branch.edit_record(lambda entry: entry.update(test="test_alike"))
    branch.move(path, path.replace("test_same", "test_alike"))


@blocked("allowed_queries=80 can never fail on 80 queries", main=stable)
def test_all_queries_are_allowed(branch: PullRequest) -> None:
    """`allowed_queries` is the number of queries."""
    branch.edit_test("0.85", "0.85, allowed_queries=80")


@blocked("min_rbo=0 can never fail", main=stable)
def test_a_limit_that_never_fails(branch: PullRequest) -> None:
    """`min_rbo` goes to 0, which all rankings reach."""
    branch.edit_test("0.85", "0")


# --- small changes ---------------------------------------------------------------------------


@blocked("without a reason", "2 rankings changed", main=stable)
def test_small_changes_recorded_anew(branch: PullRequest) -> None:
    """Two rankings change within the limits, and the baseline is recorded anew."""
    two_queries(branch, 2)
    branch.record_anew()


@blocked("2 rankings changed", main=beside_a_metric)
def test_a_ranking_edited_beside_an_approved_one(branch: PullRequest) -> None:
    """One changed ranking is approved; another one is changed in the record by hand."""
    branch.rank({**branch.main_ranks, 79: None})
    branch.approve("a smaller index")
    branch.rank({**branch.main_ranks, 79: None, 0: 10})
    top = [*(f"filler-{place}" for place in range(9)), "doc of query 0"]
    branch.edit_record(lambda entry: entry["queries"][0].update(top=top))


# --- gone ------------------------------------------------------------------------------------


@blocked("the rankings are no longer compared", main=beside_a_metric)
def test_rankings_no_longer_compared(branch: PullRequest) -> None:
    """The comparison of rankings is removed; that of the metric stays."""
    branch.worsen_and_edit("    assert_ranking_stable(evaluation, baseline, min_rbo=0.85)\n", "")


@blocked("the rankings are no longer compared", main=beside_a_metric)
def test_rankings_no_longer_compared_recorded_anew(branch: PullRequest) -> None:
    """The comparison of rankings is removed, and the baseline recorded anew."""
    branch.edit_test("    assert_ranking_stable(evaluation, baseline, min_rbo=0.85)\n", "")
    branch.record_anew()


@blocked("R@100 is no longer gated", main=beside_a_metric)
def test_only_rankings_compared(branch: PullRequest) -> None:
    """The gate of the metric is removed; the comparison of rankings stays."""
    branch.edit_test("    assert_recall_not_regressed(evaluation, baseline, k=100)\n", "")


@blocked("test_same", "its test is gone", main=stable)
def test_a_comparison_of_rankings_deleted(branch: PullRequest) -> None:
    """The test that compares rankings is deleted."""
    branch.make_the_ranker_worse()
    branch.test(ANOTHER)


@blocked("test_same", "did not compare", main=stable)
def test_an_assertion_of_rankings_removed(branch: PullRequest) -> None:
    """The test no longer compares rankings, but still uses its baseline."""
    branch.worsen_and_edit(
        "assert_ranking_stable(ranking_run, baseline, min_rbo=0.85)", "assert baseline"
    )


@blocked("test_same", "skipped", main=stable)
def test_a_comparison_of_rankings_skipped(branch: PullRequest) -> None:
    """The test that compares rankings is skipped."""
    branch.worsen_and_edit("def test_same", "import pytest\n\n@pytest.mark.skip\ndef test_same")


# --- allowed ---------------------------------------------------------------------------------


@listed("the rankings were limited by min_rbo=0.85, p=0.9, k=10", main=stable)
def test_looser_limits_that_are_not_needed(branch: PullRequest) -> None:
    """`min_rbo` is lowered, but the rankings keep the approved limit."""
    two_queries(branch, 2)
    branch.edit_test("0.85", "0.1")


@passes(main=stable)
def test_tighter_limits(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.9, and the rankings keep it; the baseline is updated."""
    branch.edit_test("0.85", "0.9, max_changed_queries=5")
    branch.update()
    assert branch.record()["stability"][0]["min_rbo"] == 0.9


@passes(main=stable)
def test_looser_limits_with_a_reason(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.1 with a reason, and the ranker gets worse."""
    branch.worsen_and_edit("0.85", "0.1")
    branch.approve("the new index has other neighbours")
    assert branch.record()["stability"] == [{"min_rbo": 0.1, "p": 0.9, "k": 10}]


@blocked(LOOSER, "min_rbo=0.8", main=stable)
def test_looser_limits_than_those_with_a_reason(branch: PullRequest) -> None:
    """`min_rbo` goes from 0.85 to 0.8 with a reason, and then to 0.1."""
    branch.edit_test("0.85", "0.8")
    branch.approve("the new index has other neighbours")
    branch.edit_test("0.8", "0.1")
    branch.make_the_ranker_worse()


@refused("differ from the baseline", main=stable)
def test_an_update_beyond_the_limits(branch: PullRequest) -> None:
    """The worse ranker is recorded without a reason."""
    branch.make_the_ranker_worse()
