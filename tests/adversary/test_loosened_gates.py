"""The gate is loosened, or can never fail."""

from __future__ import annotations

from pull_request import PullRequest, blocked, kept, listed

ON_SLICES = """
from pytest_rankcheck import assert_mrr_not_regressed

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.3, by="locale")
"""
CONFIGURED = """
from pytest_rankcheck import assert_not_regressed

def test_mrr(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR")
"""


def with_gate(gate: str) -> str:
    """Return a test with a gate."""
    return (
        "from pytest_rankcheck import Gate, assert_mrr_not_regressed\n\n"
        "def test_mrr(evaluation, baseline):\n"
        f"    assert_mrr_not_regressed(evaluation, baseline, gate={gate})\n"
    )


def on_slices(main: PullRequest) -> None:
    """RR is gated on each locale, with a tolerance of 0.3; English falls by 0.45."""
    main.test(ON_SLICES)


def configured(main: PullRequest) -> None:
    """The gate is in the configuration: RR may fall by 0.01."""
    main.test(CONFIGURED)
    main.configure('rankcheck_gate = "tolerance(abs=0.01)"', 'rankcheck_slices = "locale"')


def significant(main: PullRequest) -> None:
    """RR must not fall significantly, and no single query by more than 0.5."""
    main.test(with_gate("Gate.significant(max_query_drop=0.5)"))


def noninferior(main: PullRequest) -> None:
    """RR must not be inferior by 0.02."""
    main.test(with_gate("Gate.noninferior(0.02)"))


@blocked("0.01", "RR")
def test_a_wider_tolerance(branch: PullRequest) -> None:
    """The tolerance in the code goes from 0.01 to 0.5."""
    branch.worsen_and_edit("abs=0.01", "abs=0.5")


@blocked("0.01", "RR", main=configured)
def test_a_wider_tolerance_in_the_configuration(branch: PullRequest) -> None:
    """The tolerance in the configuration goes from 0.01 to 0.5."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_gate = "tolerance(abs=0.5)"')


@kept("gate of RR")
def test_an_update_with_a_wider_tolerance(branch: PullRequest) -> None:
    """The tolerance goes from 0.01 to 0.5, and the baseline is updated."""
    branch.worsen_and_edit("abs=0.01", "abs=0.5")


@blocked("RR")
def test_a_wider_tolerance_in_advance(branch: PullRequest) -> None:
    """The tolerance is widened in one pull request; the worse ranker follows in the next."""
    branch.edit_test("abs=0.01", "abs=0.5")
    branch.update()
    branch.merge()
    branch.make_the_ranker_worse()


@blocked("RR")
def test_a_tolerance_widened_in_small_steps(branch: PullRequest) -> None:
    """The tolerance is widened by 0.01 in each of two pull requests, and the ranker follows."""
    branch.edit_test("abs=0.01", "abs=0.02")
    branch.rank({**branch.main_ranks, 0: 3})
    branch.update()
    branch.merge()
    branch.edit_test("abs=0.02", "abs=0.03")
    branch.rank({**branch.main_ranks, 0: 3, 1: 3})


@blocked("RR")
def test_another_rule(branch: PullRequest) -> None:
    """The tolerance becomes a statistical gate with a wide margin."""
    branch.make_the_ranker_worse()
    branch.test(with_gate("Gate.noninferior(0.4)"))


@blocked("RR", main=noninferior)
def test_a_wider_margin(branch: PullRequest) -> None:
    """The margin goes from 0.02 to 0.4."""
    branch.worsen_and_edit("(0.02)", "(0.4)")


@blocked("RR", main=significant)
def test_a_stricter_level(branch: PullRequest) -> None:
    """The gate asks for p below 1e-9, which no 20 queries reach, and limits no query."""
    branch.worsen_and_edit("(max_query_drop=0.5)", "(alpha=1e-9)")


@blocked("RR", main=significant)
def test_a_wider_limit_of_single_queries(branch: PullRequest) -> None:
    """The limit of a single query's fall goes from 0.5 to 0.95; two queries fall."""
    branch.rank({**branch.main_ranks, 0: 10, 1: 10})
    branch.edit_test("max_query_drop=0.5", "max_query_drop=0.95")


@blocked("locale=en", main=on_slices)
def test_slices_that_are_no_longer_gated(branch: PullRequest) -> None:
    """The slices are no longer gated."""
    branch.worsen_and_edit(', by="locale"', "")


@blocked("locale=en", main=on_slices)
def test_slices_too_small_to_gate(branch: PullRequest) -> None:
    """The gate asks for more queries than a slice has."""
    branch.make_the_ranker_worse()
    branch.test(with_gate('Gate.tolerance(abs=0.3, min_queries=60), by="locale"'))


@listed("locale=xx", main=on_slices)
def test_slices_relabelled(branch: PullRequest) -> None:
    """The queries that fell are relabelled, so that they hide in a slice of their own."""
    branch.make_the_ranker_worse()
    branch.edit_queries(range(20), lambda line: {"locale": "xx"})


@blocked("locale", main=configured)
def test_slices_removed_from_the_configuration(branch: PullRequest) -> None:
    """The configuration no longer gates slices, and allows more."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_gate = "tolerance(abs=0.3)"', "rankcheck_slices = []")


@blocked("abs")
def test_a_tolerance_that_never_fails(branch: PullRequest) -> None:
    """The tolerance is as wide as the range of the metric."""
    branch.worsen_and_edit("abs=0.01", "abs=1")


@blocked("rel")
def test_a_relative_tolerance_that_never_fails(branch: PullRequest) -> None:
    """The relative tolerance allows a fall of the whole mean."""
    branch.worsen_and_edit("abs=0.01", "rel=1")


@blocked("margin", main=noninferior)
def test_a_margin_that_never_fails(branch: PullRequest) -> None:
    """The margin is as wide as the range of the metric."""
    branch.worsen_and_edit("(0.02)", "(1)")


@blocked("max_query_drop", main=significant)
def test_a_limit_that_never_fails(branch: PullRequest) -> None:
    """The limit of a single query's fall is as wide as the range of the metric."""
    branch.worsen_and_edit("max_query_drop=0.5", "max_query_drop=1")


@blocked("min_drop", main=significant)
def test_a_smallest_fall_that_is_never_reached(branch: PullRequest) -> None:
    """The smallest fall that counts is as wide as the range of the metric."""
    branch.worsen_and_edit("max_query_drop=0.5", "min_drop=1")


@blocked("abs", main=configured)
def test_a_configured_tolerance_that_never_fails(branch: PullRequest) -> None:
    """The configured tolerance is as wide as the range of the metric."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_gate = "tolerance(abs=1)"')


def few_queries_strict(main: PullRequest) -> None:
    """An inconclusive result fails."""
    main.test(with_gate("Gate.noninferior(0.005)"))
    main.configure('rankcheck_inconclusive = "fail"')


@blocked("inconclusive", main=few_queries_strict)
def test_inconclusive_results_pass(branch: PullRequest) -> None:
    """The configuration lets inconclusive results pass."""
    branch.rank({**branch.main_ranks, 0: 10})
    branch.configure('rankcheck_inconclusive = "pass"')


def guarded(main: PullRequest) -> None:
    """RR may fall by 0.2, but small falls must not add up to more than noise explains."""
    main.test(with_gate("Gate.tolerance(abs=0.2)"))
    main.configure('rankcheck_slide = "fail"')


@blocked("slid", "best ever approved", main=guarded)
def test_small_falls_without_the_guard(branch: PullRequest) -> None:
    """Falls inside the tolerance add up, and the configuration switches the guard off."""
    branch.rank({**branch.main_ranks, **dict.fromkeys(range(20, 40), 2)})
    branch.configure('rankcheck_slide = "off"')


def with_budget(main: PullRequest) -> None:
    """Approvals may let the mean fall by 0.05 in total."""
    main.test()
    main.configure("rankcheck_leak_budget = 0.05")


@blocked("budget", main=with_budget)
def test_a_larger_budget(branch: PullRequest) -> None:
    """The budget of approved falls is raised, and a fall beyond it approved."""
    branch.make_the_ranker_worse()
    branch.configure("rankcheck_leak_budget = 0.5")
    branch.approve("a faster index")


def own_gate(main: PullRequest) -> None:
    """RR is gated by a rule of the project's own: at most two queries may fall."""
    main.write("tests/conftest.py", OWN_GATE)
    main.test(with_own_gate("Gate(FewQueries())"))


OWN_GATE = """
from dataclasses import dataclass

from pytest_rankcheck import Evidence, GateRule, Outcome

@dataclass(frozen=True)
class FewQueries(GateRule):
    def __str__(self):
        return "few_queries(queries=2)"

    def allowed(self, values):
        return 1.0 - 1e-9

    def outcome(self, values, evidence):
        return Outcome.REGRESSED if values.losses > 2 else Outcome.LOWER
"""


def with_own_gate(gate: str) -> str:
    """Return a test with a gate, which knows the project's own rule."""
    return with_gate(gate).replace("def test", "from conftest import FewQueries\n\ndef test")


@blocked("few_queries(queries=2)", main=own_gate)
def test_a_rule_of_the_projects_own_replaced(branch: PullRequest) -> None:
    """A gate of the project's own, which the record cannot read back, becomes a tolerance."""
    branch.make_the_ranker_worse()
    branch.test(with_own_gate("Gate.tolerance(abs=0.5)"))


@blocked("looser gate")
def test_a_moved_baseline_with_a_looser_gate(branch: PullRequest) -> None:
    """The test is renamed, its baseline moved along, and the tolerance widened."""
    branch.worsen_and_edit("def test_mrr", "def test_quality")
    branch.edit_test("abs=0.01", "abs=0.5")
    path = branch.record_path
    branch.edit_record(lambda entry: entry.update(test="test_quality"))
    branch.move(path, path.replace("test_mrr", "test_quality"))


def two_metrics(main: PullRequest) -> None:
    """RR and P@1 are gated."""
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_both(evaluation, baseline):\n"
        "    assert_not_regressed(evaluation, baseline, ['RR', 'R@100'], abs=0.01)\n"
    )


@blocked("RR is no longer gated", main=two_metrics)
def test_a_moved_baseline_without_a_metric(branch: PullRequest) -> None:
    """The test is renamed, its baseline moved along, and the metric that fell dropped."""
    branch.worsen_and_edit("def test_both", "def test_recall")
    branch.edit_test("'RR', ", "")
    path = branch.record_path
    branch.edit_record(lambda entry: entry.update(test="test_recall"))
    branch.move(path, path.replace("test_both", "test_recall"))


def own_metric(main: PullRequest) -> None:
    """A metric of the project's own is gated."""
    main.write("tests/conftest.py", OWN_METRIC.replace("IS_HIGHER", "True"))
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_first(evaluation, baseline):\n"
        "    assert_not_regressed(evaluation, baseline, 'FirstHit', abs=0.01)\n"
    )


OWN_METRIC = """
import numpy as np
from pytest_rankcheck import metric

@metric("FirstHit", higher_is_better=IS_HIGHER)
def first_hit(hits, cutoff):
    return np.where((hits.grades > 0) & (hits.ranks == 1), 1.0, 0.0).sum(axis=1)
"""


@blocked("direction of FirstHit", main=own_metric)
def test_a_reversed_direction(branch: PullRequest) -> None:
    """The direction of the project's own metric is reversed, so that a fall is a gain."""
    branch.make_the_ranker_worse()
    branch.write("tests/conftest.py", OWN_METRIC.replace("IS_HIGHER", "False"))
