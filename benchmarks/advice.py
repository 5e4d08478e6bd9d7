"""What the advice which metrics to gate is worth: ``python benchmarks/advice.py [--write]``.

Falls of six kinds (planted_falls.py) are planted into four golden sets (advice_sets.py), on top of
innocent changes, and ``Gate.significant()`` decides on one or two metrics, corrected by Holm at a
joint level of 5%. The power is the share of falls that a choice of metrics blocks. False blocks
are counted on changes of the same kinds with equal expected quality: each query's fall is in the
new ranking or in the old one, as a coin decides.

The sizes of the falls are those at which a random pair of the eight candidates blocks about 36% of
each kind. They do not depend on the advice. ``--write`` puts the tables into
``docs/metric-laws.md``; ``--quick`` takes 20 draws.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np
from advice_sets import RankedSet, ranked_sets
from manual_parts import DOCS, write_part
from planted_falls import FALLS, FallKind, changed
from rates import Rate
from real_pairs import DATA, require_data

from pytest_rankcheck import Evaluation, Gate, Metric, Outcome, Resolution, Resolutions
from pytest_rankcheck.comparison.paired_values import Paired
from pytest_rankcheck.gates.gate_rule import Evidence
from pytest_rankcheck.gates.set_decisions import FamilySet, decide_sets

PAGE = DOCS / "metric-laws.md"
CANDIDATES = tuple(
    map(Metric.parse, ("nDCG@10", "RR", "AP", "P@10", "R@10", "R@50", "Success@5", "ERR@10"))
)
"""Metrics that a team might compute; each choice is made from these."""
NDCG, RECALL = Metric.parse("nDCG@10"), Metric.parse("R@50")
ALPHA = 0.05
CHUNK = 20
"""So many draws are made at once."""

Choice = tuple[Metric, ...]


@dataclass(frozen=True)
class Cell:
    """What every metric says of falls of one kind on one golden set."""

    metrics: Sequence[Metric]
    evidence: Sequence[Sequence[tuple[FamilySet, Evidence]]]
    """By draw and metric."""

    def rate(self, choice: Choice) -> Rate:
        """Return how often a choice of metrics blocks."""
        places = [self.metrics.index(metric) for metric in choice]
        blocked = 0
        for draw in self.evidence:
            sets, evidence = zip(*(draw[place] for place in places), strict=True)
            decisions, _ = decide_sets(sets, evidence)
            blocked += any(each.outcome is Outcome.REGRESSED for each in decisions)
        return Rate(blocked, len(self.evidence))


def cell(
    ranked: RankedSet,
    kind: FallKind,
    draws: int,
    *,
    is_null: bool,
    metrics: Sequence[Metric] = CANDIDATES,
) -> Cell:
    """Return what the metrics say of planted falls.

    Args:
        ranked: the golden set and its run.
        kind: the kind of fall.
        draws: how many changes are made.
        is_null: whether a coin decides for each query if the old or the new ranking has the fall;
            otherwise the new one has it.
        metrics: what is measured.
    """
    random = np.random.default_rng(zlib.crc32(f"{ranked.name} {kind.name} {is_null}".encode()))
    queries = len(ranked.golden)
    ids = tuple(map(str, range(queries)))
    rule = Gate.significant(alpha=ALPHA).rule
    evidence = []
    for start in range(0, draws, CHUNK):
        count = min(CHUNK, draws - start)
        is_hit = np.ones((count, queries), dtype=np.bool_)
        if is_null:
            is_hit = random.random(is_hit.shape) < 0.5
        before, after = (
            ranked.rankings.values(metrics, changed(ranked.rankings, kind, hit, random), count)
            for hit in (is_hit if is_null else ~is_hit, ~is_hit if is_null else is_hit)
        )
        for draw in range(count):
            sets = [
                FamilySet(rule, Paired(metric, ids, before[place, draw], after[place, draw]))
                for place, metric in enumerate(metrics)
            ]
            evidence.append([(each, each.evidence) for each in sets])
    return Cell(metrics, evidence)


def former_choice(evaluation: Evaluation) -> Choice:
    """Return what the advice was before it compared at one depth, from the lead on.

    The lead saw the most swaps of different grades, at all ranks; beside it was the metric with the
    lowest tau, if that was below 0.9 and the metric not at its ceiling or floor on half of the
    queries. One that saw less than half of what nDCG would see at its cutoff came last.
    """
    found = [Resolution.of(evaluation, metric) for metric in CANDIDATES]
    tau = Resolutions.of(evaluation, CANDIDATES).tau
    usable = [place for place, each in enumerate(found) if each.seen_telling]
    lead = min(
        usable,
        key=lambda place: (found[place].share_that_cannot_fall >= 0.5, -found[place].seen_telling),
    )

    def overlooks(place: int) -> bool:
        metric = found[place].metric
        ndcg = Resolution.of(evaluation, Metric.of("nDCG", metric.cutoff))
        return found[place].share_of_telling < 0.5 * ndcg.share_of_telling

    adding = [
        place
        for place in usable
        if place != lead and tau[lead, place] < 0.9 and found[place].share_at_an_end < 0.5
    ]
    beside = sorted(adding, key=lambda place: (overlooks(place), tau[lead, place]))[:1]
    return tuple(CANDIDATES[place] for place in (lead, *beside))


def choices(evaluation: Evaluation) -> Mapping[str, Sequence[Choice]]:
    """Return the choices of metrics by name; the rates of several are averaged."""
    former = former_choice(evaluation)
    return {
        "nDCG@10 alone": [(NDCG,)],
        "a random pair": list(combinations(CANDIDATES, 2)),
        "the former advice": [former],
        "the lead of the former advice, with R@50": [(former[0], RECALL)],
        "**the advice**": [Resolutions.of(evaluation, CANDIDATES).gated],
    }


@dataclass(frozen=True)
class Powers:
    """The rates of every choice, by golden set and kind of fall."""

    power: Mapping[tuple[str, str, str], float]
    """By choice, golden set and kind."""
    false: Mapping[tuple[str, str, str], float]
    """The same for changes of equal expected quality."""
    chosen: Mapping[tuple[str, str], Sequence[Choice]]
    """By choice and golden set."""

    def mean(self, choice: str, kinds: Sequence[FallKind] = FALLS, ranked: str = "") -> float:
        """Return the mean power over golden sets, or of one, and over kinds."""
        names = {kind.name for kind in kinds}
        return fmean(
            rate
            for (one, golden, kind), rate in self.power.items()
            if one == choice and kind in names and ranked in ("", golden)
        )

    def false_blocks(self, choice: str) -> tuple[float, float]:
        """Return the mean rate of false blocks, and the highest of a golden set and kind."""
        rates = [rate for (one, _, _), rate in self.false.items() if one == choice]
        return fmean(rates), max(rates)


def powers(sets: Mapping[str, RankedSet], draws: int, kinds: Sequence[FallKind] = FALLS) -> Powers:
    """Return the power and the false blocks of every choice.

    Args:
        sets: the golden sets by name.
        draws: how many changes are made for each golden set and kind of fall.
        kinds: the kinds of falls.
    """
    power, false = {}, {}
    chosen = {
        (choice, name): pairs
        for name, ranked in sets.items()
        for choice, pairs in choices(ranked.evaluation).items()
    }
    for name, ranked in sets.items():
        for kind in kinds:
            for is_null, into in ((False, power), (True, false)):
                made = cell(ranked, kind, draws, is_null=is_null)
                for (choice, golden), pairs in chosen.items():
                    if golden == name:
                        rates = [made.rate(pair).share for pair in pairs]
                        into[choice, name, kind.name] = fmean(rates)
    return Powers(power, false, chosen)


def lines(found: Powers, draws: int) -> Iterator[str]:
    """Yield the tables and what they mean."""
    losses = [kind for kind in FALLS if kind.is_loss]
    orders = [kind for kind in FALLS if not kind.is_loss]
    names = list(dict.fromkeys(choice for choice, _ in found.chosen))
    columns = [*(kind.name for kind in FALLS), "mean of losses", "mean of order", "mean"]
    yield f"| gated | {' | '.join(columns)} | false blocks (highest) |"
    yield f"|---|{'---|' * (len(columns) + 1)}"
    for name in names:
        parts = [*([kind] for kind in FALLS), losses, orders, FALLS]
        cells = " | ".join(f"{found.mean(name, part):.2f}" for part in parts)
        mean, highest = found.false_blocks(name)
        yield f"| {name} | {cells} | {mean:.1%} ({highest:.1%}) |"
    yield ""
    golden_sets = list(dict.fromkeys(golden for _, golden in found.chosen))
    fixed = ("the former advice", "**the advice**")
    yield f"| golden set | {' | '.join(fixed)} | power of the former | power |"
    yield f"|---|{'---|' * (len(fixed) + 2)}"
    for golden in golden_sets:
        pairs = [" + ".join(map(str, found.chosen[name, golden][0])) for name in fixed]
        means = [f"{found.mean(name, ranked=golden):.2f}" for name in fixed]
        yield f"| {golden} | {' | '.join([*pairs, *means])} |"
    yield ""
    yield "The falls:"
    yield ""
    for kind in FALLS:
        yield f"- **{kind.name}**: {kind.what.format(size=kind.size)}"
    yield ""
    cells = draws * len(golden_sets)
    yield (
        f"{draws:,} draws per golden set and kind: two standard errors of a power in a column are "
        f"at most {2 * (0.25 / cells) ** 0.5:.2f}, those of one rate of false blocks "
        f"{2 * (ALPHA * (1 - ALPHA) / draws) ** 0.5:.1%}."
    )


def main() -> None:
    """Print the tables, and write them into the manual if requested."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="20 draws")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    require_data()
    draws = 20 if given.quick else given.draws
    text = "\n".join(lines(powers(ranked_sets(DATA), draws), draws)) + "\n"
    print(text)
    if given.write:
        write_part(PAGE, "power of the advice", text)


if __name__ == "__main__":
    main()
