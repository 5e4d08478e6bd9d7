"""The judged hits: blocks, orders and unjudged documents change no bit of any metric."""

import numpy as np
import pytest

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.evaluation.run_golden_join import join, judged_hits

METRICS = [
    "nDCG",
    "nDCG@3",
    "nDCG(gain=exponential)@5",
    "nDCG(discount=zipf(1,0.7))",
    "nDCG(judged_only=true)@3",
    "DCG",
    "RR",
    "AP",
    "AP@3",
    "AP(divide=min)@4",
    "P",
    "P@5",
    "R@3",
    "F@4",
    "Success@2",
    "ERR",
    "ERR(stop=sigmoid(1,1))@5",
    "nERR@4",
    "MeanRank@9",
    "IPrec@0.3",
    "AR",
    "GMAP",
    "GAP",
    "Bpref",
    "infAP",
    "RBP(p=0.9)",
    "RBPResidual",
    "KendallTau",
    "Spearman@7",
    "TauAP",
    "TauAP(ties=b)@8",
]

SEES_THE_UNJUDGED = {"P", "KendallTau", "Spearman@7", "TauAP", "TauAP(ties=b)@8"}
"""What counts an unjudged document even below all judged documents."""

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")


def values(run: Run, golden: GoldenSet, block: int) -> dict[str, bytes]:
    blocks = list(judged_hits(join(run, golden), golden, block=block))
    return {
        name: np.concatenate([Metric.parse(name).compute(hits) for hits in blocks]).tobytes()
        for name in METRICS
    }


def test_long_rankings_do_not_change_the_values_of_short_ones() -> None:
    """numpy groups the terms of a long row: a sum must not follow the width of its block."""
    random = np.random.default_rng(7)
    judgments, ranked = {}, {}
    for query in range(200):
        names = [f"d{i}" for i in range(int(random.integers(1, 150)))]
        judgments[f"q{query}"] = {name: random.choice([-1, 0, 0.5, 1, 2, 3]) for name in names[3:]}
        ranked[f"q{query}"] = [str(name) for name in random.permutation(names)]
    golden, run = GoldenSet.from_dict(judgments), Run.from_dict(ranked)
    assert values(run, golden, 1) == values(run, golden, 7) == values(run, golden, 4096)


def test_the_highest_grade_is_that_of_the_whole_set_in_every_block() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}, "b": {"x": 4}})
    blocks = list(judged_hits(join(Run.from_dict({"a": ["x"]}), golden), golden, block=1))
    assert [block.max_grade for block in blocks] == [4, 4]


def test_unjudged_documents_below_all_judged_ones_change_nothing_but_precision() -> None:
    golden = GoldenSet.from_dict({"q": {"a": 2, "b": 1, "c": 3}})
    short = evaluate(Run.from_dict({"q": ["b", "a"]}), golden)
    long = evaluate(Run.from_dict({"q": ["b", "a", "x", "y"]}), golden)
    for metric in METRICS:
        if metric in SEES_THE_UNJUDGED:
            assert short.mean(metric) != long.mean(metric), metric
        else:
            assert short.mean(metric) == long.mean(metric) > 0, metric


@pytest.mark.parametrize("lengths", [(2, 4, 6), (4, 4), (1, 9, 2, 4), (3,)])
@pytest.mark.parametrize("judged", ["all", "one", "none of the last"])
def test_rankings_of_unequal_length_by_hand(lengths: tuple[int, ...], judged: str) -> None:
    """Scores rise with the number, so document i of n, from 0 on, is at rank n - i.

    2, 4 and 6 documents are as many as three times 4. If the 6 have no hit, the longest ranking
    with one has 4, and all three were once mistaken for a matrix.
    """
    run = {f"q{q}": {f"d{i}": i + 0.5 for i in reversed(range(n))} for q, n in enumerate(lengths)}
    chosen = [[n // 2] if judged == "one" else list(range(n)) for n in lengths]
    if judged == "none of the last":
        chosen[-1] = []
    golden = {f"q{q}": {f"d{i}": 1 for i in own} for q, own in enumerate(chosen)}
    evaluation = evaluate(Run.from_dict(run), GoldenSet.from_dict(golden))
    found = [
        [rank for rank in row if rank == rank] for row in evaluation.source.hits[0].ranks.tolist()
    ]
    expected = [sorted(n - i for i in own) for n, own in zip(lengths, chosen, strict=True)]
    assert found == expected
