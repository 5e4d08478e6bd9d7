"""An update is used to lower the record."""

from __future__ import annotations

import json

from pull_request import PullRequest, Ranks, blocked, kept, refused
from test_changed_tests import RR_AND_RECALL, rr_and_recall
from test_loosened_gates import with_gate


@refused("RR regressed")
def test_a_plain_update(branch: PullRequest) -> None:
    """The baseline is updated with the worse ranker."""
    branch.make_the_ranker_worse()


@kept("RR")
def test_a_fall_inside_the_tolerance(branch: PullRequest) -> None:
    """The mean falls by less than the tolerance, and the baseline is updated."""
    branch.rank({**branch.main_ranks, 0: 2})


@refused("RR regressed")
def test_falls_inside_the_tolerance(branch: PullRequest) -> None:
    """The mean falls by less than the tolerance, time after time, with an update each time."""
    for last in (1, 2):
        branch.rank({**branch.main_ranks, **dict.fromkeys(range(last), 2)})
        branch.update()


@blocked("RR regressed")
def test_falls_inside_the_tolerance_in_many_pull_requests(branch: PullRequest) -> None:
    """The mean falls by less than the tolerance in each of several pull requests."""
    branch.rank({**branch.main_ranks, 0: 2})
    assert branch.update().passed
    branch.merge()
    branch.rank({**branch.main_ranks, 0: 2, 1: 2})


def tiny_values(main: PullRequest) -> None:
    """The document of the first query is at rank 10, and any fall is tolerated up to 0.01."""
    main.golden(main.project.queries(2000))
    main.rank({0: 7})
    main.test()


@kept("RR", main=tiny_values)
def test_five_steps_of_a_millionth(branch: PullRequest) -> None:
    """The mean falls by less than 1e-5, five times, with an update each time."""
    for rank in (8, 9, 10, 11, 12):
        branch.rank({0: rank})
        assert branch.update().passed


@refused("R@100", main=rr_and_recall)
def test_one_metric_traded_for_another(branch: PullRequest) -> None:
    """RR gets better and R@100 worse, and the baseline is updated."""
    branch.rank(dict.fromkeys(range(5)))


@refused("RR", main=rr_and_recall)
def test_a_metric_gated_in_every_other_update(branch: PullRequest) -> None:
    """The metric that fell is not gated in one update, and gated again in the next."""
    branch.worsen_and_edit("    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)\n", "")
    branch.update()
    branch.test(RR_AND_RECALL)


@refused("reason", options=("--rankcheck-approve", " "))
def test_an_empty_reason(branch: PullRequest) -> None:
    """The fall is approved with an empty reason."""
    branch.make_the_ranker_worse()


@refused("RR", options=("--rankcheck-raise", "a better ranker"))
def test_a_raise_that_lowers(branch: PullRequest) -> None:
    """The worse ranker is recorded as an improvement, with --rankcheck-raise."""
    branch.make_the_ranker_worse()


@refused("--snapshot-update", options=("--rankcheck-baseline-ref=main",))
def test_an_update_in_ci(branch: PullRequest) -> None:
    """CI itself updates the baselines."""
    branch.make_the_ranker_worse()


@blocked("--snapshot-update")
def test_an_update_in_addopts(branch: PullRequest) -> None:
    """CI is made to update the baselines by ``addopts``."""
    branch.make_the_ranker_worse()
    branch.configure('addopts = ["--snapshot-update"]')


@blocked("RR regressed")
def test_a_reference_in_addopts(branch: PullRequest) -> None:
    """``addopts`` names the branch itself as the reference."""
    branch.make_the_ranker_worse()
    branch.record_anew()
    branch.configure('addopts = ["--rankcheck-baseline-ref=HEAD"]')


@blocked("main")
def test_a_tag_with_the_name_of_the_reference(branch: PullRequest) -> None:
    """A tag of the branch has the name of the reference, ``main``."""
    branch.make_the_ranker_worse()
    branch.record_anew()
    branch.tag("main")


@blocked("syrupy")
def test_a_session_without_syrupy(branch: PullRequest) -> None:
    """``addopts`` switches off syrupy, which keeps the baselines."""
    branch.make_the_ranker_worse()
    branch.configure('addopts = ["-p", "no:syrupy"]')


@kept("RR", written_by_another="better.json")
def test_another_session_raises_the_record(branch: PullRequest) -> None:
    """While the update runs, another session records a ranker that is better still."""
    raise_the_record_during_the_test(branch)
    branch.rank({79: 2})


@refused("another test session", written_by_another="better.json")
def test_another_session_raises_the_record_further(branch: PullRequest) -> None:
    """While the update runs, another session raises the record by more than the tolerance."""
    raise_the_record_during_the_test(branch)
    branch.rank(dict.fromkeys(range(72, 80), 2))


def raise_the_record_during_the_test(branch: PullRequest) -> None:
    """Let the test itself put a perfect record in the place of the approved one."""
    path = branch.record_path
    approved = (branch.path / path).read_text("utf-8")
    branch.rank({})
    assert branch.update().passed
    branch.move(path, "better.json")
    branch.write(path, approved)
    branch.edit_test(
        "abs=0.01)", f"abs=0.01)\n    __import__('shutil').copy('better.json', '{path}')"
    )


# --- queries that do not count ---------------------------------------------------------------


def first_rank(main: PullRequest) -> None:
    """The mean rank of the first relevant document, where there is one."""
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_first_rank(evaluation, baseline):\n"
        '    assert_not_regressed(evaluation, baseline, "FirstRank(missing=omit)", abs=0.01)\n'
    )


@refused("counted", main=first_rank)
def test_queries_that_do_not_count(branch: PullRequest) -> None:
    """The ranker finds nothing for difficult queries, which then do not count."""
    branch.rank(dict.fromkeys(range(10, 80)))


@blocked("counted", main=first_rank)
def test_queries_that_do_not_count_recorded_anew(branch: PullRequest) -> None:
    """The ranker finds nothing for difficult queries; the baseline is recorded anew."""
    branch.rank(dict.fromkeys(range(10, 80)))
    branch.record_anew()


def log(branch: PullRequest, week: int, ranks: list[int | None]) -> None:
    """Write a session log, in which users selected these ranks."""
    lines = [
        {
            "session_id": f"week{week}-{number}",
            "event": 0,
            "time": 1_700_000_000 + number,
            "query": f"query {number}",
            "results": [f"d{place}" for place in range(30)],
            "selected_rank": rank,
        }
        for number, rank in enumerate(ranks)
    ]
    branch.write("logs/week.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


def sessions(main: PullRequest) -> None:
    """All 60 users select the first result."""
    main.write(
        "pyproject.toml",
        '[tool.pytest.ini_options]\nrankcheck_sessions = "logs/week.jsonl"\n'
        'rankcheck_session_reading = ["first_rank=1", "selections_where=all"]\n',
    )
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_sessions(session_evaluation, baseline):\n"
        "    assert_not_regressed(\n"
        '        session_evaluation, baseline, "SessionRR(abandoned=exclude)", abs=0.01\n'
        "    )\n"
    )
    log(main, 1, [1] * 60)


@refused("counted", main=sessions)
def test_abandoned_sessions(branch: PullRequest) -> None:
    """58 of 60 sessions are abandoned, and abandoned sessions do not count."""
    log(branch, 2, [1, 1] + [None] * 58)


@refused("SessionRR", main=sessions)
def test_abandoned_sessions_and_then_bad_ones(branch: PullRequest) -> None:
    """58 of 60 sessions are abandoned in one update; in the next they select rank 20."""
    log(branch, 2, [1, 1] + [None] * 58)
    branch.update()
    log(branch, 3, [1, 1] + [20] * 58)


@refused("reading: 'first_rank=1", "'first_rank=0", main=sessions)
def test_a_log_that_is_read_in_another_way(branch: PullRequest) -> None:
    """All select rank 2, and ranks are said to count from 0, so that the file has 1."""
    log(branch, 2, [1] * 60)
    ini = (branch.path / "pyproject.toml").read_text("utf-8")
    branch.write("pyproject.toml", ini.replace("first_rank=1", "first_rank=0"))


@refused("drop_sessions_over=1", main=sessions)
def test_failures_that_are_dropped_as_bots(branch: PullRequest) -> None:
    """Half of the users try twice and select rank 20; their sessions are dropped."""
    log(branch, 2, [1] * 30 + [20] * 30)
    rows = [
        json.loads(line)
        for line in (branch.path / "logs/week.jsonl").read_text("utf-8").splitlines()
    ]
    rows += [{**row, "event": 1, "selected_rank": None} for row in rows[30:]]
    branch.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    ini = (branch.path / "pyproject.toml").read_text("utf-8")
    dropped = 'selections_where=all", "drop_sessions_over=1"'
    branch.write("pyproject.toml", ini.replace('selections_where=all"', dropped))


def significant_sessions(main: PullRequest) -> None:
    """Of 60 sessions of 30 users, half in each of two groups, all succeed; the gate is a test."""
    sessions(main)
    main.edit_test("abs=0.01", "gate=Gate.significant()")
    main.edit_test("import assert_not_regressed", "import Gate, assert_not_regressed")
    grouped(main, 1, [1] * 60)


def grouped(branch: PullRequest, week: int, ranks: list[int | None]) -> None:
    """Write a log whose sessions have groups."""
    log(branch, week, ranks)
    lines = (branch.path / "logs/week.jsonl").read_text("utf-8").splitlines()
    rows = [{**json.loads(line), "group": "AB"[n % 2]} for n, line in enumerate(lines)]
    branch.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


@refused("clusters: none in the baseline, 'group' now", main=significant_sessions)
def test_clusters_that_hide_a_fall(branch: PullRequest) -> None:
    """All sessions get worse, and two groups become the only independent units."""
    ini = (branch.path / "pyproject.toml").read_text("utf-8")
    branch.write("pyproject.toml", ini + 'rankcheck_session_clusters = "group"\n')
    grouped(branch, 2, [2] * 60)


def standardised_sessions(main: PullRequest) -> None:
    """Of 90 sessions of group A 80 succeed, of 10 of group B none; the gate standardises."""
    sessions(main)
    main.edit_test("abs=0.01", 'gate=Gate.significant(standardise="group")')
    main.edit_test("import assert_not_regressed", "import Gate, assert_not_regressed")
    main.edit_test("SessionRR(abandoned=exclude)", "SuccessRate")
    mixed(main, 1, a=(80, 90), b=(0, 10))


def mixed(branch: PullRequest, week: int, a: tuple[int, int], b: tuple[int, int]) -> None:
    """Write a log of two groups: how many sessions of each succeed, of how many."""
    parts = [("A", *a), ("B", *b)]
    log(branch, week, [1 if n < good else None for _, good, of in parts for n in range(of)])
    groups = [name for name, _, of in parts for _ in range(of)]
    lines = (branch.path / "logs/week.jsonl").read_text("utf-8").splitlines()
    rows = [{**json.loads(line), "group": group} for line, group in zip(lines, groups, strict=True)]
    branch.write("logs/week.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


@kept("at the baseline's mix of group", main=standardised_sessions)
def test_a_mean_that_is_better_only_at_the_mix_of_before(branch: PullRequest) -> None:
    """Both groups are significantly better, but B, which is harder, rises from 10% to 60%."""
    mixed(branch, 2, a=(80, 80), b=(60, 120))


# --- tests that pytest reports as failed -----------------------------------------------------

BETTER: Ranks = {}
"""Every document is first: a plain update of a test that passes writes this."""


@refused("subtest")
def test_a_failing_subtest(branch: PullRequest) -> None:
    """A better ranker, but a subtest fails after the gate."""
    branch.rank(BETTER)
    branch.edit_test("evaluation, baseline)", "evaluation, baseline, subtests)")
    branch.edit_test("abs=0.01)", "abs=0.01)\n    with subtests.test(): assert 0")


@refused("strict")
def test_a_strict_xfail_that_passes(branch: PullRequest) -> None:
    """A better ranker, but the test was expected to fail, strictly."""
    branch.rank(BETTER)
    branch.edit_test("\ndef", "\nimport pytest\n@pytest.mark.xfail(strict=True)\ndef")


@kept("xpassed")
def test_an_xfail_that_passes(branch: PullRequest) -> None:
    """A better ranker, but the test was expected to fail."""
    branch.rank(BETTER)
    branch.edit_test("\ndef", "\nimport pytest\n@pytest.mark.xfail\ndef")


@refused("teardown")
def test_an_error_in_teardown(branch: PullRequest) -> None:
    """A better ranker, but a fixture fails when it is torn down."""
    branch.rank(BETTER)
    branch.edit_test(
        "\ndef",
        "\nimport pytest\n@pytest.fixture(autouse=True)\ndef cleanup():\n"
        '    yield\n    raise OSError("in teardown")\n\ndef',
    )


@refused("afterwards")
def test_a_failure_after_the_gate(branch: PullRequest) -> None:
    """A better ranker, but the test fails after its gate."""
    branch.rank(BETTER)
    branch.edit_test("abs=0.01)", 'abs=0.01)\n    raise ValueError("afterwards")')


@kept("skipped")
def test_a_skip_after_the_gate(branch: PullRequest) -> None:
    """A better ranker, but the test skips itself after its gate."""
    branch.rank(BETTER)
    branch.edit_test("abs=0.01)", 'abs=0.01)\n    __import__("pytest").skip("later")')


# --- noise -----------------------------------------------------------------------------------


def statistical(main: PullRequest) -> None:
    """RR must not fall significantly."""
    main.test(with_gate("Gate.significant()"))


@kept("noise", main=statistical)
def test_a_rise_within_noise(branch: PullRequest) -> None:
    """Two queries get better by chance; a record that rises with noise blocks innocent work."""
    branch.rank(dict.fromkeys(range(72, 80), 2))


SLICES = """
from pytest_rankcheck import Gate, assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, gate=Gate.tolerance(abs=0.01), by="kind")
"""


def small_slices(main: PullRequest) -> None:
    """50 queries in three slices, each too small for the tolerance to gate it."""
    main.golden([line | {"kind": "abc"[place % 3]} for place, line in enumerate(main.lines[:50])])
    main.rank({query: 2 for query in range(50) if query % 3})
    main.test(SLICES)


@kept("kind=a", "0 of 3 slices", main=small_slices)
def test_a_small_slice_that_collapsed(branch: PullRequest) -> None:
    """One of three small slices collapses while the others get better, and the mean rises."""
    branch.rank(dict.fromkeys(range(0, 50, 3), 5))


@blocked("kind=a", main=small_slices)
def test_a_small_slice_that_collapsed_under_a_statistical_gate(branch: PullRequest) -> None:
    """One of three small slices collapses, under a statistical gate: it needs no 30 queries."""
    branch.test(SLICES.replace("tolerance(abs=0.01)", "significant()"))
    branch.rank(dict.fromkeys(range(0, 50, 3), 5))


@refused("counted", main=sessions)
def test_sessions_that_fell_are_removed(branch: PullRequest) -> None:
    """20 of 60 users select rank 10; these sessions are removed from the log."""
    log(branch, 1, [1] * 40)
