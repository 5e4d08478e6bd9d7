"""The record is edited, replaced or removed."""

from __future__ import annotations

from pull_request import FALLEN, Entry, PullRequest, blocked, listed

OTHER = "tests/test_other.py"
TEN_QUERIES = """
import pytest
from pytest_rankcheck import GoldenSet, assert_mrr_not_regressed, evaluate

def test_last_ten(ranking_run, golden_set, baseline):
    last = golden_set.subset(list(golden_set.query_ids)[-10:])
    assert_mrr_not_regressed(evaluate(ranking_run, last), baseline, abs=0.01)
"""


def lower_values(entry: Entry) -> None:
    """Write the values of the worse ranker into a record."""
    for line in entry["queries"][: len(FALLEN)]:
        line["values"]["RR"] = 0.1
    entry["metrics"]["RR"]["best"] = 0.7125


@blocked("RR regressed")
def test_recorded_anew(branch: PullRequest) -> None:
    """The baseline is deleted and recorded anew with the worse ranker."""
    branch.make_the_ranker_worse()
    branch.record_anew()


@blocked("test_mrr", "deleted")
def test_deleted_in_a_pull_request_of_its_own(branch: PullRequest) -> None:
    """The baseline is deleted in one pull request, to be recorded lower in the next."""
    branch.forget_records()


@blocked("RR regressed")
def test_lowered_by_hand(branch: PullRequest) -> None:
    """The values and the best mean are lowered by hand, and the digest is computed anew."""
    branch.make_the_ranker_worse()
    branch.edit_record(lower_values)


@blocked("RR")
def test_lowered_by_hand_in_advance(branch: PullRequest) -> None:
    """The record is lowered by hand in one pull request; the worse ranker follows in the next."""
    branch.edit_record(lower_values)


@blocked("gate")
def test_a_gate_loosened_by_hand(branch: PullRequest) -> None:
    """The gate in the record is loosened by hand, and the gate of the test along with it."""
    branch.worsen_and_edit("abs=0.01", "abs=0.5")
    branch.edit_record(lambda entry: entry["metrics"]["RR"].update(gate="tolerance(abs=0.5)"))


@blocked("gate")
def test_a_gate_loosened_by_hand_in_advance(branch: PullRequest) -> None:
    """The gate in the record and in the test are loosened before the ranker gets worse."""
    branch.edit_test("abs=0.01", "abs=0.5")
    branch.edit_record(lambda entry: entry["metrics"]["RR"].update(gate="tolerance(abs=0.5)"))


@blocked("RR")
def test_a_metric_ungated_by_hand(branch: PullRequest) -> None:
    """The record is edited to say that RR is not gated."""
    branch.edit_record(lambda entry: entry["metrics"]["RR"].update(gated=False))


@blocked("since")
def test_a_reset_count_of_removed_queries(branch: PullRequest) -> None:
    """The record is edited to forget how many queries were removed since the last approval."""
    branch.drop(range(4))
    assert branch.update().passed
    branch.merge()
    branch.edit_record(forget_changes)


def forget_changes(entry: Entry) -> None:
    entry["since_approval"].update(removed=0, edited=0)


def approved_once(main: PullRequest) -> None:
    """A fall of the first query is approved."""
    main.test()
    assert main.update().passed
    main.rank({**main.main_ranks, 0: 10})
    main.approve("a faster index")


@blocked("best", main=approved_once)
def test_a_best_mean_lowered_by_hand(branch: PullRequest) -> None:
    """Only the best mean is lowered by hand, to make room for later approvals."""
    branch.edit_record(lambda entry: entry["metrics"]["RR"].update(best=0.93))


@blocked("approval", main=approved_once)
def test_a_dropped_approval(branch: PullRequest) -> None:
    """An earlier approval is removed from the record."""
    branch.edit_record(lambda entry: entry["approvals"].clear())


@blocked("approval", main=approved_once)
def test_a_rewritten_approval(branch: PullRequest) -> None:
    """The reason of an earlier approval is rewritten."""
    branch.edit_record(lambda entry: entry["approvals"][0].update(reason="it was fine"))


@blocked("RR regressed")
def test_an_approval_of_another_metric(branch: PullRequest) -> None:
    """The fall of RR is approved in the record, but the approval names nDCG@10."""
    branch.make_the_ranker_worse()
    branch.approve("a faster index")
    fall = {"nDCG@10": {"from": 0.9, "to": 0.8}}
    branch.edit_record(lambda entry: entry["approvals"][0].update(fall=fall))


@blocked("RR")
def test_an_approval_of_a_smaller_fall(branch: PullRequest) -> None:
    """A small fall is approved; the record is lowered further by hand, the approval is not."""
    branch.rank({**branch.main_ranks, 0: 10, 1: 10})
    branch.approve("a faster index")
    branch.make_the_ranker_worse()
    branch.edit_record(lower_values)


@blocked("RR", main=approved_once)
def test_a_further_fall_after_an_approval(branch: PullRequest) -> None:
    """A fall was approved on main; the record is lowered further by hand, without a new reason."""
    branch.make_the_ranker_worse()
    branch.edit_record(lower_values)


def rr_and_ndcg(main: PullRequest) -> None:
    """The test gates RR and nDCG@10."""
    main.test(
        "from pytest_rankcheck import assert_mrr_not_regressed, assert_ndcg_not_regressed\n\n"
        "def test_metrics(evaluation, baseline):\n"
        "    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n"
        "    assert_ndcg_not_regressed(evaluation, baseline, k=10, abs=0.01)\n"
    )


@blocked("nDCG@10", main=rr_and_ndcg)
def test_an_approval_of_one_of_two_metrics(branch: PullRequest) -> None:
    """Two metrics fell; the approval in the record names only one of them."""
    branch.make_the_ranker_worse()
    branch.approve("a faster index")
    branch.edit_record(lambda entry: entry["approvals"][0]["fall"].pop("nDCG@10"))


@blocked("reason")
def test_an_approval_without_a_reason(branch: PullRequest) -> None:
    """The fall is approved in the record with an empty reason."""
    branch.make_the_ranker_worse()
    branch.approve("a faster index")
    branch.edit_record(lambda entry: entry["approvals"][0].update(reason=" "))


def two_tests(main: PullRequest) -> None:
    """A test of all queries, and one of the ten queries that are difficult."""
    main.test()
    main.test(TEN_QUERIES, OTHER)


@blocked("test_mrr", main=two_tests)
def test_swapped_records(branch: PullRequest) -> None:
    """The records of two tests are swapped, because the other one is lower."""
    branch.make_the_ranker_worse()
    first, second = branch.records()
    branch.move(first, "swap")
    branch.move(second, first)
    branch.move("swap", second)


@blocked("test_mrr", main=two_tests)
def test_a_record_linked_to_another(branch: PullRequest) -> None:
    """The record is replaced by a symbolic link to the lower record of another test."""
    first, second = sorted(branch.records(), key=lambda path: "last_ten" in path)
    branch.delete(first)
    (branch.path / first).symlink_to(branch.path / second)


@blocked("test_mrr")
def test_a_record_cut_short(branch: PullRequest) -> None:
    """The record is cut short, so that it must be recorded anew later."""
    text = (branch.path / branch.record_path).read_text("utf-8")
    branch.write(branch.record_path, text[:200])


@blocked("test_mrr")
def test_a_record_edited_clumsily(branch: PullRequest) -> None:
    """A value in the record is lowered by hand, without a new digest."""
    branch.edit(branch.record_path, '"RR": 1.0', '"RR": 0.1')


@blocked("test_mrr")
def test_a_record_replaced_by_a_folder(branch: PullRequest) -> None:
    """The record is replaced by a folder."""
    path = branch.record_path
    branch.delete(path)
    branch.write(f"{path}/keep", "")


@blocked("test_mrr")
def test_an_older_format(branch: PullRequest) -> None:
    """The record is given an older format version, which has less to check."""
    branch.edit_record(lambda entry: entry.update(version=1))


@blocked("test_mrr")
def test_ignored_baselines(branch: PullRequest) -> None:
    """The baselines are ignored by git and removed from the repository."""
    branch.write(".gitignore", "baselines/\n")
    branch.forget_records()


@blocked("RR regressed")
def test_values_that_are_missing(branch: PullRequest) -> None:
    """The values of the queries that fell are removed from the record by hand."""
    branch.make_the_ranker_worse()
    branch.edit_record(without_values)


@blocked("RR")
def test_values_that_are_missing_in_advance(branch: PullRequest) -> None:
    """The values of some queries are removed by hand before the ranker gets worse."""
    branch.edit_record(without_values)


def without_values(entry: Entry) -> None:
    for line in entry["queries"][: len(FALLEN)]:
        line["values"]["RR"] = None
    if "counted" in entry["metrics"]["RR"]:
        entry["metrics"]["RR"]["counted"] = 80 - len(FALLEN)


@blocked("reason")
def test_retired_by_hand(branch: PullRequest) -> None:
    """The record is marked as retired by hand, without a reason, and its test deleted."""
    retired = {"reason": "", "date": "", "commit": None, "author": None, "fall": {}}
    branch.edit_record(lambda entry: entry.update(retired=retired))
    branch.delete("tests/test_ranking.py")
    branch.test("def test_nothing():\n    pass\n", OTHER)


@listed("the site has no search any more")
def test_retired_with_a_reason(branch: PullRequest) -> None:
    """The record is retired with a reason, and its test deleted."""
    branch.retire("the site has no search any more")
    branch.delete("tests/test_ranking.py")
    branch.test("def test_nothing():\n    pass\n", OTHER)


@blocked("RR regressed")
def test_retired_in_use(branch: PullRequest) -> None:
    """The record of a test that still runs is retired, so that the ranker can get worse."""
    branch.make_the_ranker_worse()
    branch.retire("the site has no search any more")


@blocked("RR")
def test_a_merge_that_never_was(branch: PullRequest) -> None:
    """The record is lowered by hand and marked as the result of a merge."""
    branch.edit_record(lower_values)
    branch.edit_record(lambda entry: entry.update(merged=True))


@listed("a faster index", "0.9375", "0.7125", "Ada")
def test_an_approved_fall(branch: PullRequest) -> None:
    """The fall is approved with a reason."""
    branch.make_the_ranker_worse()
    branch.approve("a faster index")
