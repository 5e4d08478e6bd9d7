"""Metrics of a catalogue, by hand and against definitions that are written out in Python.

The catalogue has a, b, c, d, e and f; the top 2 of three queries:

    q1  a b        q2  a c        q3  b x    (x is not in the catalogue)

a and b are shown twice, c once, d, e and f never.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import pytest

from pytest_rankcheck import (
    Gate,
    GoldenSet,
    GoldenSetError,
    MetricError,
    Run,
    assert_at_least,
    assert_not_regressed,
    compare,
    compare_runs,
    evaluate,
    plan,
)

DOCUMENTS = {
    "a": {"seller": "acme", "price": 2.0},
    "b": {"seller": "acme"},
    "c": {"seller": "Bolt & Co"},
    **{each: {"seller": "zeta"} for each in "def"},
}
RANKINGS = {"q1": ["a", "b", "d"], "q2": ["a", "c"], "q3": ["b", "x"]}
JUDGMENTS = {"q1": {"a": 1, "d": 2}, "q2": {"c": 2, "a": -1}, "q3": {"b": 1}}
GOLDEN = GoldenSet.from_dict(JUDGMENTS, documents=DOCUMENTS)
EVALUATION = evaluate(Run.from_dict(RANKINGS), GOLDEN)

Rankings = Mapping[str, Sequence[str]]


def test_by_hand() -> None:
    assert EVALUATION.mean("CatalogCoverage@2") == 3 / 6
    assert EVALUATION.mean("CatalogCoverage@1") == round(2 / 6, 12)
    assert EVALUATION.mean("CatalogCoverage") == round(4 / 6, 12)
    # Counts 0 0 0 1 2 2: (-5*0 - 3*0 - 1*0 + 1*1 + 3*2 + 5*2) / (6 * 5).
    assert EVALUATION.mean("Gini@2") == round(17 / 30, 12)
    # Discounts 1 and w at ranks 1 and 2. acme has a, b; a; b: (1 + w) + 1 + 1 of 3 * (1 + w). Of
    # the relevance, a 1 and b 1 (the negative grade of a has no gain) of 1 + 2 + 2 + 1.
    w = 1 / math.log2(3)
    expected = ((3 + w) / (3 * (1 + w))) / (2 / 6)
    assert EVALUATION.mean("Exposure(by=seller,of=acme)@2") == pytest.approx(expected, abs=1e-12)
    expected = (w / (3 * (1 + w))) / (2 / 6)
    name = 'Exposure(by=seller, of="Bolt & Co")@2'
    assert EVALUATION.mean(name) == pytest.approx(expected, abs=1e-12)
    assert EVALUATION.computed[-1] == EVALUATION.computed[-1].parse(str(EVALUATION.computed[-1]))


def test_a_whole_catalogue_is_covered_exactly() -> None:
    ids = [f"d{number}" for number in range(49)]
    golden = GoldenSet.from_dict({each: {} for each in ids}, documents={each: {} for each in ids})
    evaluation = evaluate(Run.from_dict({each: [each] for each in ids}), golden)
    assert evaluation.mean("CatalogCoverage@1") == 1
    assert evaluation.mean("Gini@1") == 0


def gini(rankings: Rankings) -> float:
    counts = Counter(doc for top in rankings.values() for doc in top)
    shown = [counts[doc] for doc in CATALOGUE]
    differences = sum(abs(one - other) for one in shown for other in shown)
    return differences / (2 * len(shown) * sum(shown)) if sum(shown) else 0.0


def exposure(rankings: Rankings) -> float:
    def total(of_group: Callable[[str], bool]) -> tuple[float, float]:
        shown = sum(
            1 / math.log2(place + 2)
            for top in rankings.values()
            for place, doc in enumerate(top)
            if of_group(doc)
        )
        return shown, sum(
            grade for q in rankings for doc, grade in JUDGED[q].items() if of_group(doc)
        )

    group, everything = total(lambda doc: SELLER.get(doc) == "s1"), total(lambda doc: True)
    return (group[0] / everything[0]) / (group[1] / everything[1])


CATALOGUE = [f"d{number}" for number in range(60)]
SELLER = {doc: f"s{number % 4}" for number, doc in enumerate(CATALOGUE)}
_DRAW = random.Random(7)
TOPS = {f"q{n}": _DRAW.sample(CATALOGUE[: 10 + n], _DRAW.randrange(0, 9)) for n in range(40)}
JUDGED = {q: {doc: _DRAW.randrange(3) for doc in _DRAW.sample(CATALOGUE, 5)} for q in TOPS}


def test_values_and_jackknife_are_those_of_the_definition() -> None:
    for name, by_definition in (
        ("CatalogCoverage", lambda tops: len({d for top in tops.values() for d in top}) / 60),
        ("Gini", gini),
        ("Exposure(by=seller,of=s1)", exposure),
    ):
        documents = {doc: {"seller": SELLER[doc]} for doc in CATALOGUE}
        evaluation = evaluate(Run.from_dict(TOPS), GoldenSet.from_dict(JUDGED, documents=documents))
        whole = by_definition(TOPS)
        assert evaluation.mean(name) == pytest.approx(whole, abs=1e-11)
        without = [by_definition({q: top for q, top in TOPS.items() if q != left}) for left in TOPS]
        count = len(TOPS)
        error = math.sqrt((count - 1) / count * np.sum((without - np.mean(without)) ** 2))
        low, high = evaluation.interval(name)
        assert (low + high) / 2 == pytest.approx(whole, abs=1e-9)
        assert (high - low) / 2 == pytest.approx(2.022691 * error, rel=1e-5)  # t of 39 degrees, 95%


def test_no_query_has_a_value_of_its_own() -> None:
    assert EVALUATION.table(["Gini@2", "RR"])["Gini@2"].isna().all()
    assert math.isnan(EVALUATION.median("Gini@2"))
    values = compare(EVALUATION, EVALUATION).values("Gini@2")
    assert (values.wins, values.ties, values.losses) == (0, 0, 0)
    frame = compare_runs({"a": EVALUATION, "b": EVALUATION}, GOLDEN, ["Gini@2"]).to_frame()
    assert frame["p"].isna().all()
    assert frame["mean"].tolist() == [round(17 / 30, 6)] * 2


def test_parts_have_no_value() -> None:
    golden = GoldenSet.from_dict(
        JUDGMENTS, documents=DOCUMENTS, attributes={"q1": {"locale": "de"}}
    )
    evaluation = evaluate(Run.from_dict(RANKINGS), golden)
    for ask in (
        lambda: evaluation.by("locale", "Gini@2"),
        lambda: assert_at_least(evaluation, "CatalogCoverage@2", 0.1, by="locale"),
        lambda: compare(evaluation, evaluation).by("locale", "Gini@2"),
    ):
        with pytest.raises(MetricError, match="one value of the whole run, and has no value of a"):
            ask()
    part = evaluate(Run.from_dict(RANKINGS), golden.subset(["q1", "q2"]))
    for ask in (
        lambda: assert_not_regressed(evaluation, evaluation, "Gini@2", by="locale"),
        lambda: plan(evaluation, "Gini@2", 0.1),
    ):
        with pytest.raises(MetricError, match="one value of the whole run, and has no value of a"):
            ask()
    with pytest.raises(MetricError, match="the two sides have different ones"):
        compare(part, evaluation).values("Gini@2")


def test_exposure_is_better_nearer_to_its_share() -> None:
    name = "Exposure(by=seller,of=acme)@2"
    many = evaluate(Run.from_dict({**RANKINGS, "q2": ["b", "a"]}), GOLDEN)
    few = evaluate(Run.from_dict({**RANKINGS, "q2": ["c", "d"], "q3": ["x", "b"]}), GOLDEN)
    for worse, better in ((many, EVALUATION), (EVALUATION, few)):
        assert worse.mean(name) > better.mean(name) > 1
        assert Gate.tolerance().decide(compare(worse, better), name).regressed
        assert not Gate.tolerance().decide(compare(better, worse), name).regressed
    with pytest.raises(AssertionError, match=r"allowed 0\.0100 away from 1"):
        assert_not_regressed(many, few, name, abs=0.01)
    with pytest.raises(AssertionError, match="allowed no move away from 1"):
        assert_not_regressed(many, few, name)
    none = evaluate(Run.from_dict({query_id: ["d", "e"] for query_id in RANKINGS}), GOLDEN)
    assert none.mean(name) == 0
    assert Gate.tolerance().decide(compare(none, few), name).regressed


def test_true_is_spelled_as_in_slices() -> None:
    golden = GoldenSet.from_dict(JUDGMENTS, documents={"a": {"new": True}, "b": {"new": False}})
    evaluation = evaluate(Run.from_dict(RANKINGS), golden)
    # Of the discount, a has 1 + 1 of 3 (1 + w), b has w + 1; of the relevance 1 of 6 each.
    w = 1 / math.log2(3)
    expected = {"true": 2 / (3 * (1 + w)) * 6, "false": (1 + w) / (3 * (1 + w)) * 6}
    for word, value in expected.items():
        assert evaluation.mean(f"Exposure(by=new,of={word})@2") == pytest.approx(value)


def test_what_is_not_known_is_named() -> None:
    bare = evaluate(Run.from_dict(RANKINGS), GoldenSet.from_dict(JUDGMENTS))
    for name, problem in (
        ("CatalogCoverage@2", "rankcheck_documents"),
        ("Novelty@2", "rankcheck_interactions"),
    ):
        with pytest.raises(MetricError, match=problem):
            bare.mean(name)
    for name, problem in (
        ("Exposure(by=selller,of=acme)", "no column 'selller'; did you mean 'seller'"),
        ("Exposure(by=seller,of=ACME)", "no relevant document has the seller 'ACME'.*acme"),
        ("Exposure(by=seller)", "needs of="),
        ("Exposure(by=seller,of=true)", "no relevant document has the seller 'true'"),
        ("Novelty(judged_only=true)", "has no parameter 'judged_only'; it has none"),
        ("ILD@2", "needs by="),
    ):
        with pytest.raises(MetricError, match=problem):
            EVALUATION.mean(name)
    strangers = evaluate(Run.from_dict({"q1": ["1"], "q2": ["2"]}), GOLDEN)
    with pytest.raises(
        MetricError, match=r"all 2 ranked documents are without a row in .*, such as 1, 2"
    ):
        strangers.mean("CatalogCoverage@2")


def test_a_document_with_two_rows_is_refused() -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b", "a"], "seller": ["x", "y", "z"]})
    evaluation = evaluate(Run.from_dict(RANKINGS), GoldenSet.from_dict(JUDGMENTS, documents=frame))
    for _ in range(2):
        with pytest.raises(GoldenSetError, match="document 'a' has two rows; keep one"):
            evaluation.mean("CatalogCoverage@2")


def test_a_document_with_two_rows_counts_once_where_it_is_not_ranked() -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b", "x", "never", "never"]})
    golden = GoldenSet.from_dict({"q": {"a": 1}}, documents=frame)
    evaluation = evaluate(Run.from_dict({"q": ["a", "b"]}), golden)
    assert evaluation.mean("CatalogCoverage@2") == 2 / 4  # two of a, b, x and never


def test_ranked_documents_without_a_row_are_counted() -> None:
    evaluation = evaluate(Run.from_dict(RANKINGS), GOLDEN)
    evaluation.mean("CatalogCoverage@2")
    assert [note for note in evaluation.notes if "without a row" in note] == [
        "1 of 4 ranked documents without a row in the catalogue: x"
    ]
