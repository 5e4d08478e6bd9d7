"""Everyday work."""

from __future__ import annotations

from project import git
from pull_request import PullRequest, passes
from test_changed_tests import RR_AND_RECALL, parametrized
from test_loosened_gates import significant
from test_record_edits import TEN_QUERIES, approved_once, two_tests
from test_updates import log, sessions

SECOND_TEST = """
from pytest_rankcheck import assert_ndcg_not_regressed

def test_ndcg(evaluation, baseline):
    assert_ndcg_not_regressed(evaluation, baseline, k=10, abs=0.01)
"""


def update(branch: PullRequest) -> None:
    """Update the baselines without a reason."""
    outcome = branch.update()
    assert outcome.passed, outcome.terminal


@passes()
def test_nothing_changes(branch: PullRequest) -> None:
    """The same results are recorded again; not a byte changes."""
    before = (branch.path / branch.record_path).read_bytes()
    update(branch)
    assert (branch.path / branch.record_path).read_bytes() == before


@passes()
def test_a_better_ranker(branch: PullRequest) -> None:
    """The ranker gets better; the record is left for later."""
    branch.rank({79: 2})


@passes()
def test_a_better_ranker_recorded(branch: PullRequest) -> None:
    """The ranker gets better, and the baseline is updated."""
    branch.rank({79: 2})
    update(branch)
    assert branch.record()["metrics"]["RR"]["mean"] == 0.99375


@passes()
def test_a_ranker_that_wins_more_than_it_loses(branch: PullRequest) -> None:
    """Some queries get better and a few worse; the mean rises, and the baseline is updated."""
    branch.rank({0: 2, 1: 2})
    update(branch)
    assert branch.record()["metrics"]["RR"]["mean"] == 0.9875


@passes()
def test_a_small_fall(branch: PullRequest) -> None:
    """The mean falls by less than the tolerance."""
    branch.rank({**branch.main_ranks, 0: 2})


@passes()
def test_added_queries(branch: PullRequest) -> None:
    """20 queries are added, which are more difficult, and the baseline is updated."""
    branch.golden(branch.project.queries(100))
    branch.rank({**branch.main_ranks, **dict.fromkeys(range(80, 100), 5)})
    update(branch)
    assert len(branch.record()["queries"]) == 100


@passes()
def test_added_queries_with_a_better_ranker(branch: PullRequest) -> None:
    """20 queries are added, the ranker gets better, and the baseline is updated."""
    branch.golden(branch.project.queries(100))
    branch.rank(dict.fromkeys(range(80, 100), 5))
    update(branch)
    assert branch.record()["queries"][79]["values"]["RR"] == 1.0


@passes()
def test_added_queries_with_a_small_fall(branch: PullRequest) -> None:
    """20 queries are added while the ranker is worse within the tolerance; the set is recorded."""
    branch.golden(branch.project.queries(100))
    branch.rank({**branch.main_ranks, 0: 2})
    update(branch)
    lines = branch.record()["queries"]
    assert len(lines) == 100
    assert lines[0]["values"]["RR"] == 1.0, "the approved line stays"


@passes()
def test_a_bad_query_removed(branch: PullRequest) -> None:
    """A bad query is removed, and the baseline is updated."""
    branch.drop([7])
    update(branch)
    assert len(branch.record()["queries"]) == 79


@passes()
def test_a_typo_in_a_query(branch: PullRequest) -> None:
    """A typo in the text of a query is fixed, and the baseline is updated."""
    branch.edit_queries([7], lambda line: {"query": "query  7"})
    update(branch)


@passes()
def test_a_judgment_corrected(branch: PullRequest) -> None:
    """A grade of one query is corrected, and the baseline is updated."""
    branch.edit_queries([7], lambda line: {"relevance": {**line["relevance"], "filler-1": 1}})
    update(branch)


@passes()
def test_a_golden_set_in_another_order(branch: PullRequest) -> None:
    """The lines of the golden set are sorted in another way."""
    branch.golden(branch.lines[::-1])


@passes()
def test_a_golden_set_in_another_format(branch: PullRequest) -> None:
    """The golden set is saved in another format, under the same name."""
    rows = [
        f"{line['query_id']},{line['query']},{document},{grade}\n"
        for line in branch.lines
        for document, grade in line["relevance"].items()
    ]
    branch.write("golden/web.csv", "query_id,query,doc_id,relevance\n" + "".join(rows))
    branch.delete("golden/web.jsonl")
    branch.configure('rankcheck_golden = "golden/web.csv"')


@passes()
def test_a_second_golden_set(branch: PullRequest) -> None:
    """A second golden set is configured; its baselines are recorded beside the others."""
    before = (branch.path / branch.record_path).read_bytes()
    name = branch.record_path
    branch.golden(branch.lines[:40], "shop")
    branch.configure('rankcheck_golden = ["golden/web.jsonl", "golden/shop.jsonl"]')
    update(branch)
    assert (branch.path / name).read_bytes() == before
    assert len(branch.records()) == 2


@passes()
def test_a_renamed_test(branch: PullRequest) -> None:
    """A test is renamed, and its baseline recorded again with the same values."""
    branch.edit_test("test_mrr", "test_reciprocal_rank")
    update(branch)


@passes()
def test_a_renamed_test_without_its_old_record(branch: PullRequest) -> None:
    """A test is renamed, and its old baseline deleted."""
    branch.edit_test("test_mrr", "test_reciprocal_rank")
    branch.record_anew()


@passes()
def test_a_renamed_test_with_a_better_ranker(branch: PullRequest) -> None:
    """A test is renamed while the ranker gets better."""
    branch.rank({79: 2})
    branch.edit_test("test_mrr", "test_reciprocal_rank")
    branch.record_anew()


@passes(main=parametrized)
def test_a_renamed_parameter(branch: PullRequest) -> None:
    """The parameter of a test gets another id, and its baseline is recorded again."""
    branch.edit_test('["RR"]', '["RR"], ids=["first hit"]')
    branch.record_anew()


@passes(main=parametrized)
def test_another_parameter(branch: PullRequest) -> None:
    """A test gets another parameter, and its baseline is recorded."""
    branch.edit_test('["RR"]', '["RR", "nDCG@10"]')
    update(branch)
    assert len(branch.records()) == 2


@passes()
def test_a_moved_test_file(branch: PullRequest) -> None:
    """A test file is moved along with its baselines."""
    branch.move("tests/test_ranking.py", "tests/search/test_ranking.py")
    branch.move("tests/baselines", "tests/search/baselines")


@passes()
def test_a_moved_test_file_recorded_again(branch: PullRequest) -> None:
    """A test file is moved, and its baselines are recorded again in their new place."""
    branch.move("tests/test_ranking.py", "tests/search/test_ranking.py")
    branch.record_anew()


@passes()
def test_a_new_test(branch: PullRequest) -> None:
    """A test is added, and its baseline recorded."""
    branch.test(SECOND_TEST, "tests/test_ndcg.py")
    update(branch)
    assert len(branch.records()) == 2


@passes()
def test_another_metric(branch: PullRequest) -> None:
    """A test gates a second metric, and its baseline is updated."""
    branch.test(RR_AND_RECALL.replace("test_metrics", "test_mrr"))
    update(branch)
    assert set(branch.record()["metrics"]) == {"RR", "R@100"}


@passes()
def test_another_slice(branch: PullRequest) -> None:
    """A test gates slices too, and its baseline is updated."""
    branch.edit_test("abs=0.01", 'abs=0.01, by="locale"')
    update(branch)


@passes()
def test_a_tighter_gate(branch: PullRequest) -> None:
    """The tolerance is halved."""
    branch.edit_test("abs=0.01", "abs=0.005")


@passes()
def test_a_tighter_gate_recorded(branch: PullRequest) -> None:
    """The tolerance is halved, and the baseline is updated."""
    branch.edit_test("abs=0.01", "abs=0.005")
    update(branch)


@passes(main=significant)
def test_another_rule(branch: PullRequest) -> None:
    """A statistical gate becomes a tolerance, and nothing fell."""
    branch.edit_test("gate=Gate.significant(max_query_drop=0.5)", "abs=0.01")


@passes(main=two_tests)
def test_one_file_of_tests(branch: PullRequest) -> None:
    """CI runs only one file; the other records are not expected to run."""
    branch.ci_arguments = ("tests/test_ranking.py",)


@passes(main=two_tests)
def test_a_selection_of_tests(branch: PullRequest) -> None:
    """CI runs only the tests that -k selects."""
    branch.ci_arguments = ("-k", "last_ten")


@passes()
def test_line_ends_of_windows(branch: PullRequest) -> None:
    """Git converts the line ends of the record."""
    text = (branch.path / branch.record_path).read_text("utf-8")
    (branch.path / branch.record_path).write_bytes(text.replace("\n", "\r\n").encode())


@passes()
def test_main_merged_into_the_branch(branch: PullRequest) -> None:
    """While a test is added, main gets better; main is merged into the branch."""
    branch.test(SECOND_TEST, "tests/test_ndcg.py")
    update(branch)
    branch.commit()
    git(branch.path, "checkout", "-q", "-b", "other", "main")
    branch.rank({79: 2})
    update(branch)
    branch.merge()
    git(branch.path, "checkout", "-q", "feature")
    git(branch.path, "merge", "-q", "-m", "merge main", "main")


@passes()
def test_two_pull_requests_in_a_row(branch: PullRequest) -> None:
    """The ranker gets better, then queries are added, then a test is renamed."""
    branch.rank({78: 2, 79: 2})
    update(branch)
    branch.merge()
    branch.golden(branch.project.queries(90))
    update(branch)
    branch.merge()
    branch.edit_test("test_mrr", "test_reciprocal_rank")
    update(branch)


@passes(main=sessions)
def test_the_log_of_the_next_week(branch: PullRequest) -> None:
    """The session log is replaced by that of the next week, which has more sessions."""
    log(branch, 2, [1] * 80)
    update(branch)


@passes()
def test_an_unrelated_test(branch: PullRequest) -> None:
    """Tests without a baseline are added, skipped and expected to fail."""
    branch.test(
        "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n"
        "@pytest.mark.xfail\ndef test_b(): assert 0\n",
        "tests/test_unrelated.py",
    )


@passes()
def test_a_test_of_ten_queries(branch: PullRequest) -> None:
    """A test of a small part of the golden set is added; its mean is lower than that of all."""
    branch.test(TEN_QUERIES, "tests/test_last_ten.py")
    update(branch)


@passes(main=approved_once)
def test_a_better_query_removed(branch: PullRequest) -> None:
    """After an approved fall a query gets better, which is recorded; later it is removed."""
    branch.rank({**branch.main_ranks, 0: 10, 70: 1})
    update(branch)
    branch.drop([70])
    update(branch)


@passes(main=significant)
def test_a_gain_within_noise_recorded_on_purpose(branch: PullRequest) -> None:
    """A statistical gate calls the gain noise; a reason records it without an approval."""
    branch.rank({**branch.main_ranks, 0: 1, 70: 1})
    assert branch.update("--rankcheck-raise", "agreed with the product team").passed
    assert branch.record()["approvals"][0]["fall"] == {}


@passes(main=lambda main: main.test(SECOND_TEST))
def test_a_higher_grade(branch: PullRequest) -> None:
    """A query with a higher grade is added; nDCG of the others does not depend on it."""
    line = {"query_id": "new", "query": "query 1", "relevance": {"doc of query 1": 4}}
    branch.golden([*branch.lines, line])
    update(branch)


@passes()
def test_main_has_moved_on(branch: PullRequest) -> None:
    """Main has raised the baseline since the branch left it, and the branch is as good."""
    git(branch.path, "checkout", "-q", "main")
    branch.rank({79: 2})
    update(branch)
    git(branch.path, "commit", "-qam", "better")
    git(branch.path, "checkout", "-q", "feature")
    branch.rank({79: 2})


@passes()
def test_a_class_around_the_test(branch: PullRequest) -> None:
    """The test becomes a method of a class, and its baseline is recorded there."""
    branch.test(
        "from pytest_rankcheck import assert_mrr_not_regressed\n\n"
        "class TestWeb:\n"
        "    def test_mrr(self, evaluation, baseline):\n"
        "        assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n"
    )
    update(branch)
