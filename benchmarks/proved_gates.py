"""Does what ``prove`` says hold for real rankers?

For sets of gates, the share of the harms that `prove` says they block, beside the share of pairs of
real rankers that they block, where the new one is truly worse: over all queries, nDCG@10, RR and
R@50 are lower, and nDCG@10 by `FALL` at least. Gates decide on samples of the queries. Sets that
block more than 6% of innocent changes are left out.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import cranfield_bm25
import lambdarank_folds
import numpy as np
from rates import head, row
from real_pairs import Ranking, cranfield_changes, lambdarank_changes
from scipy.stats import spearmanr

from pytest_rankcheck import (
    Evaluation,
    Gate,
    GoldenSet,
    Metric,
    MetricWarning,
    Run,
    compare,
    evaluate,
)
from pytest_rankcheck.proof.gate_questions import Question, gate_question
from pytest_rankcheck.proof.harms import harms
from pytest_rankcheck.proof.kept_rankings import KeptRankings
from pytest_rankcheck.proof.proof import ENOUGH, MOST_INNOCENT, trial_of

SIZES = (60, 150)
SAMPLED = 1000
"""The other benchmarks draw so many samples for each one of this."""
FALL = 0.01
TRUTH = ("nDCG@10", "RR", "R@50")
WEAK: Sequence[Mapping[str, Any]] = (
    {"rounds": 2},
    {"rounds": 1, "num_leaves": 2},
    {"rounds": 5, "min_data_in_leaf": 700},
    {"rounds": 1, "min_data_in_leaf": 600},
)
"""Settings of LambdaRank that are worse than those that people swap."""
PROBES = [Metric.parse(name) for name in TRUTH]

_SIGNIFICANT, _ALONE = Gate.significant(), Gate.significant(lost_answers=0)
SETS: Mapping[str, tuple[Sequence[str], Gate]] = {
    "nDCG@10, significant": (("nDCG@10",), _SIGNIFICANT),
    "nDCG@10, significant, no lost answers": (("nDCG@10",), _ALONE),
    "nDCG@10, significant, alpha 1%": (("nDCG@10",), Gate.significant(alpha=0.01)),
    "nDCG@10, significant, from 0.03": (("nDCG@10",), Gate.significant(min_drop=0.03)),
    "nDCG@10, noninferior, 0.05": (("nDCG@10",), Gate.noninferior(margin=0.05)),
    "nDCG@10, tolerance 0.05": (("nDCG@10",), Gate.tolerance(abs=0.05)),
    "nDCG@10, tolerance 0.1": (("nDCG@10",), Gate.tolerance(abs=0.1)),
    "RR, significant": (("RR",), _SIGNIFICANT),
    "RR, significant, no lost answers": (("RR",), _ALONE),
    "RR, tolerance 0.1": (("RR",), Gate.tolerance(abs=0.1)),
    "P@1, significant, no lost answers": (("P@1",), _ALONE),
    "AP, significant, no lost answers": (("AP",), _ALONE),
    "Success@10, significant, no lost answers": (("Success@10",), _ALONE),
    "R@50, significant, no lost answers": (("R@50",), _ALONE),
    "nDCG@10 and R@50, significant": (("nDCG@10", "R@50"), _SIGNIFICANT),
    "nDCG@10, RR and R@50, significant": (("nDCG@10", "RR", "R@50"), _SIGNIFICANT),
}


@dataclass(frozen=True)
class Shares:
    """What became of a set of gates on samples of one size."""

    innocent: float
    harms: float
    worse: float


def proved_tables(data: Path, samples: int) -> Iterator[str]:
    """Yield the table of every set, and the rank correlations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        found = dict(_measured(data, samples))
    most = {name: max(of[name].innocent for of in found.values()) for name in SETS}
    kept = [name for name, innocent in most.items() if innocent <= MOST_INNOCENT]
    columns = [f"{where}: {what}" for where in found for what in ("harms", "worse")]
    yield from head("gates", ["innocent at most", *columns])
    for name in kept:
        of_set = [of[name] for of in found.values()]
        shares = (most[name], *(share for each in of_set for share in (each.harms, each.worse)))
        yield row(name, (f"{share:.0%}" for share in shares))
    ranks = (
        spearmanr([of[name].harms for name in kept], [of[name].worse for name in kept]).statistic
        for of in found.values()
    )
    yield row("rank correlation", ("", *(cell for each in ranks for cell in (f"{each:.2f}", ""))))


def _measured(data: Path, samples: int) -> Iterator[tuple[str, Mapping[str, Shares]]]:
    cranfield, lambdarank = data / "cranfield", data / "lightgbm-lambdarank"
    for name, golden, changes in (
        ("BM25", cranfield_bm25.golden_set(cranfield), cranfield_changes(cranfield)),
        ("LambdaRank", lambdarank_folds.golden_set(lambdarank), lambdarank_changes(lambdarank)),
    ):
        rankings = [each for pair in changes.values() for each in pair]
        if name == "LambdaRank":  # the changes alone differ too little
            rankings += [partial(lambdarank_folds.ranked, lambdarank, **new) for new in WEAK]
        runs = [*_distinct(rankings, golden)]
        for size in SIZES:
            yield f"{name}, {size} queries", _shares(runs, golden, size, samples)


def _distinct(rankings: Sequence[Ranking], golden: GoldenSet) -> Iterator[Run]:
    """Yield every ranker once."""
    seen = set()
    for ranking in rankings:
        run = ranking()
        values = evaluate(run, golden).values("nDCG@10").tobytes()
        if values not in seen:
            seen.add(values)
            yield run


def _shares(
    runs: Sequence[Run], golden: GoldenSet, size: int, samples: int
) -> Mapping[str, Shares]:
    """Return what became of every set of gates on samples of the queries."""
    means = [[evaluate(run, golden).mean(metric) for metric in PROBES] for run in runs]
    falls = {
        (old, new): np.subtract(means[old], means[new])
        for old, new in permutations(range(len(runs)), 2)
    }
    worse = [pair for pair, fall in falls.items() if fall.min() >= 0 and fall[0] >= FALL]
    draw = np.random.default_rng(size)
    blocks, harmful, innocent = [], [], []
    for _ in range(samples):
        queries = draw.choice(len(golden), size, replace=False)
        sample = golden.subset([golden.query_ids[place] for place in sorted(queries.tolist())])
        measured = [evaluate(run, sample) for run in runs]
        questions = _questions(measured[0])
        for old, new in worse:
            change = compare(measured[new], measured[old])
            blocks.append([each.blocked_by(change) != "" for each in questions])
        kept = KeptRankings(measured[int(draw.integers(len(runs)))])
        for harm in harms(kept):
            trial = trial_of(harm, kept, questions, [PROBES])
            if trial.metric:
                harmful.append((trial.answers != "").mean(axis=0) >= ENOUGH)
                innocent.append(trial.swaps.mean(axis=0))
    of_sets = (np.mean(each, axis=0).tolist() for each in (innocent, harmful, blocks))
    return {name: Shares(*each) for name, *each in zip(SETS, *of_sets, strict=True)}


def _questions(evaluation: Evaluation) -> Sequence[Question]:
    return [
        gate_question(evaluation, {Metric.parse(name): gate for name in names})
        for names, gate in SETS.values()
    ]
