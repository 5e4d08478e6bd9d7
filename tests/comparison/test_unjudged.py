"""How much of a difference documents without a judgment could be, worked by hand."""

import math
from collections.abc import Mapping, Sequence

import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Metric, Record, Run, Unjudged, compare, evaluate

GOLDEN = GoldenSet.from_dict({"a": {"x": 3, "y": 0}, "b": {"x": 1}, "c": {"x": 3}})
BEFORE = {"a": ["x", "y"], "b": ["x", "old"], "c": ["x"]}
AFTER = {"a": ["new", "x", "y"], "b": ["x", "old", "other"], "c": ["x"]}


def evaluation_of(rankings: dict[str, list[str]], golden: GoldenSet = GOLDEN) -> Evaluation:
    return evaluate(Run.from_dict(rankings), golden)


def test_the_bounds_of_reciprocal_rank_by_hand() -> None:
    found = compare(evaluation_of(AFTER), evaluation_of(BEFORE)).unjudged("RR")
    assert (found.documents, found.queries, found.k, found.grade) == (2, 2, 10, 3)
    # a falls from 1 to 1/2, unless "new" is relevant; b and c stay at 1.
    assert found.if_irrelevant == pytest.approx(-0.5 / 3)
    assert found.if_relevant == pytest.approx(0)


def test_a_query_that_was_added_is_not_in_the_bounds() -> None:
    grown = GoldenSet.from_dict({q: GOLDEN.grades(q) for q in "abc"} | {"d": {"x": 1}})
    after = evaluation_of(AFTER | {"d": ["unknown", "x"]}, grown)
    found = compare(after, evaluation_of(BEFORE)).unjudged("RR")
    assert found.if_irrelevant == pytest.approx(-0.5 / 3)
    assert found.if_relevant == pytest.approx(0)


def test_judging_the_documents_gives_the_bound() -> None:
    """The bound is what comes out when the documents are judged so and measured again."""
    for grade in (0, 3):
        judged = {"a": {"x": 3, "y": 0, "new": grade}, "b": {"x": 1, "other": grade}, "c": {"x": 3}}
        golden = GoldenSet.from_dict(judged)
        before = evaluation_of(BEFORE)
        record = Record.of(before, [Metric.parse("nDCG@3")])
        for name in ("nDCG@3", "nDCG@10", "AP", "ERR", "RBP(p=0.8)", "Bpref"):
            anew = compare(evaluation_of(AFTER, golden), evaluation_of(BEFORE, golden))
            side = record if name == "nDCG@3" else before
            found = compare(evaluation_of(AFTER), side).unjudged(name)
            bound = found.if_relevant if grade else found.if_irrelevant
            assert bound == pytest.approx(anew.values(name).difference, abs=3e-6), (name, grade)


def test_without_new_documents_there_is_nothing_to_bound() -> None:
    found = compare(evaluation_of(BEFORE), evaluation_of(BEFORE)).unjudged("AP")
    assert (found.documents, found.left, found.if_irrelevant, found.if_relevant) == (0, 0, 0, 0)
    assert found.if_left_relevant == 0


# --- documents that left --------------------------------------------------------------------------

TEN = GoldenSet.from_dict({f"q{n}": {"r1": 1, "r2": 1, "n1": 0, "n2": 0} for n in range(10)})


def fall(now: list[str], golden: GoldenSet = TEN, metric: str = "P@5", **options: bool) -> Unjudged:
    """Two of ten queries have other documents now; ``old`` is unjudged, as are ``u1`` and ``u2``."""
    then = {query: ["r1", "r2", "n1", "n2", "old"] for query in golden.query_ids}
    changed = {**then, "q3": now, "q7": now}
    before: Evaluation | Record = evaluation_of(then, golden)
    if options.get("recorded"):
        before = Record.of(evaluation_of(then, golden), [Metric.parse(metric)])
    return compare(evaluation_of(changed, golden), before).unjudged(metric)


def test_documents_that_left_count_against_the_new_ranker() -> None:
    found = fall(["r1", "u1", "u2", "n1", "n2"])
    assert (found.documents, found.queries, found.left) == (4, 2, 2)
    # P@5 falls from 2/5 to 1/5 in two of ten queries; with u1 and u2 it is 3/5, with old 3/5 before.
    assert found.if_irrelevant == pytest.approx(-0.04)
    assert found.if_relevant == pytest.approx(+0.04)
    assert found.if_left_relevant == pytest.approx(-0.08)


@pytest.mark.parametrize(("irrelevant", "shown"), [({"n": 0}, 10), ({}, 0)])
def test_a_set_without_irrelevant_documents_has_no_short_bound(
    irrelevant: dict[str, float], shown: int
) -> None:
    """All that it does not list are unjudged, such as what a user did not buy."""
    golden = GoldenSet.from_dict({f"q{n}": {"r": 1, **irrelevant} for n in range(10)})
    then, now = ({query: [doc, "r"] for query in golden.query_ids} for doc in ("r2", "u"))
    found = compare(evaluation_of(now, golden), evaluation_of(then, golden))
    pairs = found.values("RR")
    assert found.unjudged_in(pairs, in_full=False).documents == shown
    assert found.unjudged_in(pairs).documents == 10


def test_a_rise_of_a_cost_is_a_fall() -> None:
    """FirstRank goes from 1 to 3 in two queries; with u1 relevant it stays 1."""
    found = fall(["u1", "u2", "r1", "n1", "old"], metric="FirstRank")
    assert found.if_irrelevant == pytest.approx(0.4)
    assert found.if_relevant == pytest.approx(0.0)


def test_what_the_documents_that_left_could_do_may_be_unknown() -> None:
    found = fall(["u1", "r2", "n1", "n2"], metric="RR", recorded=True)  # a record has ten documents
    assert found.left == 2
    assert math.isnan(found.if_left_relevant)
    known = fall(["u1", "r2", "n1", "n2"], metric="RR@10", recorded=True)
    assert known.if_left_relevant == pytest.approx(-0.1)  # the relevant one was first all the same


@pytest.mark.parametrize(
    ("metric", "is_known"),
    [("RR", True), ("FirstRank", True), ("AP", False), ("nDCG", False), ("R@50", False)],
)
def test_what_a_record_does_not_keep_has_no_bound(metric: str, is_known: bool) -> None:
    """A record has ten documents; a new relevant one changes the ideal of both sides."""
    before, now = evaluation_of(BEFORE), evaluation_of(AFTER)
    found = compare(now, Record.of(before, [Metric.parse(metric)])).unjudged(metric)
    bounds = (found.if_irrelevant, found.if_relevant, found.if_left_relevant)
    assert [math.isnan(bound) for bound in bounds[:2]] == [not is_known] * 2
    assert found.documents == 2
    assert not math.isnan(compare(now, before).unjudged(metric).if_relevant)


def test_means_of_replicates_have_no_bound() -> None:
    runs = [Run.from_dict(AFTER), Run.from_dict(AFTER | {"c": ["y", "x"]})]
    found = compare(evaluate(runs, GOLDEN), evaluation_of(BEFORE)).unjudged("RR")
    assert math.isnan(found.if_irrelevant)
    assert math.isnan(found.if_relevant)


def test_the_rankings_are_read_once_for_all_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    before, now = evaluation_of(BEFORE), evaluation_of(AFTER)
    read: list[object] = []
    tops = type(now).tops

    def counted(side: Evaluation, k: int | None = None) -> Mapping[str, Sequence[str]]:
        read.append(side)
        return tops(side, k)

    monkeypatch.setattr(Evaluation, "tops", counted)
    comparison = compare(now, before)
    found = [comparison.unjudged(metric).if_relevant for metric in ("RR@10", "P@10", "nDCG@10")]
    assert len(found) == 3
    assert sorted(map(id, read)) == sorted(4 * [id(now), id(before)])  # the tops, and three bounds
