"""The proof: which harms the gates would block, and how many innocent changes of the same size."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.comparison.comparison import Comparison, compare
from pytest_rankcheck.errors import MetricWarning
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.proof.gate_questions import Question, gate_question, usual_questions
from pytest_rankcheck.proof.harms import DRAWS, Harm, harms
from pytest_rankcheck.proof.kept_rankings import KeptRankings, SwappedComparison

if TYPE_CHECKING:
    import pandas as pd


ENOUGH = 0.75
"""The share of draws that must be blocked for a harm to count as blocked: 9 of 12."""
MOST_INNOCENT = 0.06
"""The largest share of innocent changes that the gates and an advised one may block together."""
OUTCOMES = ("survives", "blocked", "harmless")
"""The possible outcomes of a harm, in the order of the table."""
PROBES = (("nDCG", 10), ("RR", None), ("R", 50), ("R", 100))
"""A harm that lowers none of these, and nothing that is gated, is harmless."""


@checked_arguments
def prove(
    evaluation: Evaluation,
    gates: Mapping[MetricLike, Gate],
    by: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return which harms gates would block: a row for each harm, survivors first.

    A harm is a fault that rankers really have, such as a lost shard, applied to a copy of the
    measured rankings. The gates compare the copy with the original.

    Columns: ``outcome`` (``"survives"``, ``"blocked"`` or ``"harmless"``), the ``metric`` that
    fell most and its ``change``, how many ``draws`` there were and how many were ``blocked``, what
    most often blocked it (``blocked_by``), and a usual gate that would block a survivor
    (``advice``; empty if none would). ``attrs["innocent"]`` is the share of innocent changes that
    the gates block: harmed copies whose queries are swapped with those of the original at random.

    Args:
        evaluation: what was measured.
        gates: the gate of each metric, decided as one family.
        by: an attribute of the queries, or several, whose slices are gated too.

    Raises:
        ConfigurationError: the rankings are not kept, or a gate does not fit its metric.
        MetricError: no such metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    import pandas as pd

    parsed = {Metric.parse(metric): gate for metric, gate in gates.items()}
    proof = proof_of([gate_question(evaluation, parsed, by)])
    frame = pd.DataFrame(proof.rows).set_index("harm")
    frame.attrs["innocent"] = proof.innocent
    return frame


@dataclass(frozen=True, slots=True)
class ProofRow:
    """A harm, and the verdict of the gates on it."""

    harm: str
    outcome: str
    """One of `OUTCOMES`."""
    metric: str
    """The metric that fell most; empty if nothing did."""
    change: float
    """The mean of its changes."""
    draws: int
    blocked: int
    """The number of draws that were blocked."""
    blocked_by: str
    """What blocked it most often."""
    advice: str
    """For a survivor, a usual gate that would block it; empty if none would."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdicts of the gates of a golden set on every harm; survivors come first."""

    golden_set: str
    rows: Sequence[ProofRow]
    innocent: float
    """The share of innocent changes that they block, in [0, 1]."""
    most_by: tuple[str, float]
    """The test that blocks most of them, and the share that it blocks."""
    unasked: int = 0
    """How many assertions about expectations were not asked about innocent changes."""

    @property
    def blocks_innocents(self) -> bool:
        """Whether they block too many to advise one more gate."""
        return self.innocent > MOST_INNOCENT


def alike(questions: Iterable[Question]) -> Collection[Sequence[Question]]:
    """Return questions in groups about the same golden set and the same rankings."""
    groups: dict[object, list[Question]] = {}
    for question in questions:
        evaluation = question.evaluation
        rankings = tuple(map(evaluation.ranking, evaluation.query_ids))
        groups.setdefault((evaluation.golden.fingerprint, rankings), []).append(question)
    return groups.values()


def proof_of(asserted: Sequence[Question]) -> Proof:
    """Return the verdicts of assertions about the same rankings on every harm.

    Raises:
        ConfigurationError: the rankings are not kept.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # the tests have warned already
        return _proof(asserted)


def _proof(asserted: Sequence[Question]) -> Proof:
    kept = KeptRankings(asserted[0].evaluation)
    depth = kept.unharmed.depth or kept.longest
    probed = (Metric.of(name, cutoff and min(cutoff, depth)) for name, cutoff in PROBES)
    probes = [*dict.fromkeys(probed)]
    gated = [metric for question in asserted for metric in question.metrics]
    trials = [trial_of(harm, kept, asserted, (probes, gated)) for harm in harms(kept)]
    harmful = [trial for trial in trials if trial.metric] or trials[:1]
    own = np.concatenate([trial.swaps for trial in harmful])
    are_blocked: BoolArray = np.any(own, axis=1)
    innocent = float(are_blocked.mean())
    advice: Mapping[str, str] = {}
    if innocent <= MOST_INNOCENT:
        usual = [*usual_questions(kept.unharmed, probes, [*kept.slices], asserted)]
        advice = _advice(harmful, kept, usual, are_blocked)
    rows = [trial.row(asserted, advice.get(trial.harm.name, "")) for trial in trials]
    rows.sort(key=lambda row: OUTCOMES.index(row.outcome))
    worst = int(own.mean(axis=0).argmax())
    most_by = (asserted[worst].name, float(own[:, worst].mean()))
    unasked = sum(not question.asks_innocents for question in asserted)
    return Proof(kept.golden.name, rows, innocent, most_by, unasked)


def _advice(
    trials: Sequence[Trial], kept: KeptRankings, usual: Sequence[Question], own: BoolArray
) -> Mapping[str, str]:
    """Return, for each surviving harm, the first usual gate that would block it, if any.

    Args:
        trials: the answers of the assertions to the harms.
        kept: the rankings.
        usual: the gates that could be added.
        own: which innocent changes the assertions block, ``[swaps]``.
    """
    would: dict[str, BoolArray] = {}
    for harm in (trial.harm for trial in trials if trial.outcome == "survives"):
        changes = islice((change for change, _ in _drawn(harm, kept, usual)), harm.draws)
        would[harm.name] = _are_enough(_blocked(changes, usual))
    some = np.flatnonzero(np.any([*would.values()], axis=0)).tolist() if would else []
    if not some:
        return {}
    asked = [usual[place] for place in some]
    innocents = (each for trial in trials for _, each in _drawn(trial.harm, kept, asked))
    swaps = _blocked(innocents, asked)
    may_block = (swaps | own[:, np.newaxis]).mean(axis=0) <= MOST_INNOCENT
    fitting = [*compress(some, may_block.tolist())]
    return {
        name: next((usual[place].name for place in fitting if blocks[place]), "")
        for name, blocks in would.items()
    }


def _blocked(changes: Iterable[Comparison], questions: Sequence[Question]) -> BoolArray:
    """Return which question blocks which change, ``[changes, questions]``."""
    return np.array([[each.blocked_by(change) != "" for each in questions] for change in changes])


def _are_enough(blocked: BoolArray) -> Any:
    """Return whether enough draws, ``[draws, ...]``, are blocked for a harm to count as blocked."""
    return blocked.mean(axis=0) >= ENOUGH


@dataclass(frozen=True, slots=True)
class Trial:
    """The answers to a harm, and to innocent changes of its size."""

    harm: Harm
    metric: str
    """The metric that fell most; empty if nothing did."""
    change: float
    answers: np.ndarray[Any, Any]
    """``[draws, questions]`` what blocks it; empty if nothing does."""
    swaps: BoolArray
    """``[DRAWS, questions]`` whether a question blocks a swapped copy."""

    @property
    def outcome(self) -> str:
        """One of `OUTCOMES`."""
        if _are_enough((self.answers != "").any(axis=1)):
            return "blocked"
        return "survives" if self.metric else "harmless"

    def row(self, asserted: Sequence[Question], advice: str) -> ProofRow:
        """Return the row of the table.

        Args:
            asserted: the assertions that were asked.
            advice: a gate that would block it, if it survives.
        """
        blocks, draws = self.answers != "", len(self.answers)
        names = ((asserted[place].name, self.answers[n, place]) for n, place in np.argwhere(blocks))
        by = Counter(": ".join(filter(None, pair)) for pair in names).most_common(1)
        what, blocked = by[0][0] if by else "", int(blocks.any(axis=1).sum())
        fell = (self.metric, self.change)
        return ProofRow(self.harm.name, self.outcome, *fell, draws, blocked, what, advice)


def trial_of(
    harm: Harm,
    kept: KeptRankings,
    asked: Sequence[Question],
    metrics: Iterable[Iterable[Metric]],
) -> Trial:
    """Ask questions about every draw of a harm, and about a swapped copy of each.

    Args:
        harm: the harm.
        kept: the rankings.
        asked: the questions.
        metrics: groups of metrics; the worst metric of the first group with a fall is named.
    """
    copies, answers, swaps = [], [], []
    for number, (change, innocent) in enumerate(_drawn(harm, kept, asked)):
        if number < harm.draws:
            copies.append(change.evaluation)
            answers.append([each.blocked_by(change) for each in asked])
        swaps.append([each.asks_innocents and each.blocked_by(innocent) != "" for each in asked])
    falls = filter(None, (_largest_fall(kept.unharmed, copies, group) for group in metrics))
    answered = np.array(answers, dtype=object)
    return Trial(harm, *next(falls, ("", 0.0)), answered, np.array(swaps))


def _drawn(
    harm: Harm, kept: KeptRankings, asked: Sequence[Question]
) -> Iterator[tuple[Comparison, Comparison]]:
    """Yield each draw of a harm, and an innocent change: half of it, and half of its reverse."""
    of_runs = any(metric.kind.depends_on_others for each in asked for metric in each.metrics)
    for number in range(DRAWS):
        draw = kept.generator(harm.name, number)
        if number < harm.draws:
            changed = harm.changed(draw)
            change = compare(kept.evaluated(changed), kept.unharmed)
        some = {query for query in changed if draw.random() < 0.5}
        innocent: Comparison = SwappedComparison(change, kept.unharmed, some)
        if of_runs:  # their values depend on the rankings of all queries
            halves = (some, changed.keys() - some)
            sides = (kept.evaluated({query: changed[query] for query in half}) for half in halves)
            innocent = compare(*sides)
        yield change, innocent


def _largest_fall(
    before: Evaluation, copies: Sequence[Evaluation], metrics: Iterable[Metric]
) -> tuple[str, float] | None:
    """Return the metric whose mean over copies fell most, and by how much; None if none fell."""
    falls = []
    for metric in metrics:
        then, now = before.mean(metric), float(np.mean([copy.mean(metric) for copy in copies]))
        falls.append((float(metric.gain(then, now)), str(metric), now - then))
    gain, worst, change = min(falls, key=lambda fall: fall[0], default=(0.0, "", 0.0))
    return (worst, change) if gain < -SLACK else None
