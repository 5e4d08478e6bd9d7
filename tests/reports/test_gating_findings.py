"""The findings of an assertion on several metrics, and of what it leaves undecided."""

from itertools import product

from pytest_rankcheck import (
    Evaluation,
    Gate,
    GoldenSet,
    Run,
    assert_at_least,
    assert_not_regressed,
    compare,
    evaluate,
)
from pytest_rankcheck.reports.findings import Note, Topic
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.text.verdict_notes import verdict_notes

GOLDEN = GoldenSet.from_dict(
    {f"q{n}": {"good": 1} for n in range(40)},
    attributes={f"q{n}": {"locale": "de" if n % 2 else "en"} for n in range(40)},
)


def ranked(worse: int) -> Evaluation:
    """Return an evaluation with the relevant document second for so many queries."""
    return evaluate(
        Run.from_dict(
            {f"q{n}": ["bad", "good"] if n < worse else ["good", "bad"] for n in range(40)}
        ),
        GOLDEN,
    )


def test_the_slices_of_several_metrics_are_named_once() -> None:
    with collecting() as ledger:
        assert_not_regressed(ranked(0), ranked(0), ["RR", "P@1"], by="locale")
        assert_at_least(ranked(0), {"RR": 0.5, "P@1": 0.5}, by="locale")
    notes = [
        each.text
        for each in ledger
        if isinstance(each, Note) and each.topic is Topic.NO_SLICE_GATED
    ]
    assert len(notes) == 2
    for text in notes:
        assert text.startswith("RR, P@1 on 'golden set': 0 of 2 slices gated; not gated: locale=de")


def test_a_settled_verdict_leaves_nothing_to_say() -> None:
    gates = [
        *(Gate.tolerance(abs=0.3), Gate.tolerance(abs=0.3, min_queries=5)),
        *(Gate.significant(), Gate.noninferior(0.3)),
    ]
    for gate, worse, by in product(gates, (0, 2, 20), (None, "locale")):
        verdict = gate.decide(compare(ranked(worse), ranked(0)), "RR", by)
        assert not (verdict.is_settled and list(verdict_notes("web", [verdict])))
        is_large = by is None or gate.smallest_slice <= 20
        assert verdict.is_settled == (worse == 0 and is_large), (gate, worse, by)
