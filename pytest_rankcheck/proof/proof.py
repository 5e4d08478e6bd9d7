"""The proof: which harms the gates would block, and how many innocent changes of the same size."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import BoolArray
from pytest_rankcheck.errors import MetricWarning
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.evaluation.recorded_precision import SLACK
from pytest_rankcheck.gates.gate import Gate
from pytest_rankcheck.metrics.metric_names import Metric, MetricLike
from pytest_rankcheck.proof.gate_questions import Change, Question, gate_question, usual_questions
from pytest_rankcheck.proof.harmed_copies import HarmedCopies, SwappedQueries
from pytest_rankcheck.proof.harms import DRAWS, Harm, harms

if TYPE_CHECKING:
    import pandas as pd


ENOUGH = 0.75
"""The share of its draws in which a harm that counts as blocked is blocked: 9 of 12."""
MOST_INNOCENT = 0.06
"""The share of innocent changes that gates may block together with one that is advised."""
OUTCOMES = ("survives", "blocked", "harmless")
"""What can become of a harm, in the order of the table."""
PROBES = (("nDCG", 10), ("RR", None), ("R", 50), ("R", 100))
"""A harm that lowers none of these, and nothing that is gated, is harmless."""


@checked_arguments
def prove(
    evaluation: Evaluation,
    gates: Mapping[MetricLike, Gate],
    by: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return which harms gates would block: a row for each harm, survivors first.

    A harm is a fault that rankers really have, such as a lost shard, put into a copy of the
    rankings that were measured. The gates compare the copy with the original.

    Columns: ``outcome`` (``"survives"``, ``"blocked"`` or ``"harmless"``), the ``metric`` that
    fell most and its ``change``, in how many ``draws`` it was drawn and in how many ``blocked``,
    what it was ``blocked_by`` most often, and a usual gate that would block a survivor
    (``advice``; empty if none would). ``attrs["innocent"]`` is the share of innocent changes that
    the gates block: of harmed copies that were swapped with the original, query by query at random.

    Args:
        evaluation: what was measured.
        gates: the gate of each metric, decided as one family.
        by: an attribute of the queries, or several, by whose slices the gates decide too.

    Raises:
        ConfigurationError: the rankings are not kept, or a gate does not fit its metric.
        MetricError: no such metric.
        GoldenSetError: no query has the attribute ``by``.
    """
    import pandas as pd

    parsed = {Metric.parse(metric): gate for metric, gate in gates.items()}
    (proof,) = proofs_of([gate_question(evaluation, parsed, by)])
    frame = pd.DataFrame(proof.rows).set_index("harm")
    frame.attrs["innocent"] = proof.innocent
    return frame


@dataclass(frozen=True, slots=True)
class ProofRow:
    """A harm, and what the gates say of it."""

    harm: str
    outcome: str
    """One of `OUTCOMES`."""
    metric: str
    """The metric that fell most; empty if nothing did."""
    change: float
    """The mean of its changes."""
    draws: int
    blocked: int
    """In how many draws it was blocked."""
    blocked_by: str
    """What blocked it most often."""
    advice: str
    """Of a survivor, a usual gate that would block it; empty if none would."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the gates on a golden set say of every harm; survivors come first."""

    golden_set: str
    rows: Sequence[ProofRow]
    innocent: float
    """The share of innocent changes that they block, in [0, 1]."""
    most_by: tuple[str, float]
    """The test that blocks most of them, and the share that it blocks."""

    @property
    def blocks_innocents(self) -> bool:
        """Whether that is too many to advise one more gate."""
        return self.innocent > MOST_INNOCENT


def proofs_of(questions: Iterable[Question]) -> Iterator[Proof]:
    """Yield what assertions say of every harm, for each golden set and its rankings.

    Raises:
        ConfigurationError: rankings are not kept.
    """
    alike: dict[object, list[Question]] = {}
    for question in questions:
        evaluation = question.evaluation
        rankings = tuple(map(evaluation.ranking, evaluation.query_ids))
        alike.setdefault((evaluation.golden.fingerprint, rankings), []).append(question)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)  # the tests have warned
        yield from map(_proof, alike.values())


def _proof(asserted: Sequence[Question]) -> Proof:
    """Return what assertions on the same rankings say of every harm."""
    copies = HarmedCopies(asserted[0].evaluation)
    now, golden = copies.unharmed, copies.kept.golden
    depth = now.depth or copies.kept.longest
    probed = (Metric.of(name, cutoff and min(cutoff, depth)) for name, cutoff in PROBES)
    probes = [*dict.fromkeys(probed)]
    usual = [*usual_questions(now, probes, [*copies.kept.slices], asserted)]
    gated = dict.fromkeys(metric for question in asserted for metric in question.metrics)
    asked = [*asserted, *usual]
    trials = [trial_of(harm, copies, asked, probes, [*gated]) for harm in harms(copies.kept)]
    harmful = [trial.swaps for trial in trials if trial.fall[0]]
    swaps = np.concatenate(harmful or [np.zeros((1, len(asked)), np.bool_)])
    own: BoolArray = np.any(swaps[:, : len(asserted)], axis=1, keepdims=True)
    fits = (swaps | own).mean(axis=0) <= MOST_INNOCENT
    rows = [_row(trial, asserted, usual, fits[len(asserted) :].tolist()) for trial in trials]
    rows.sort(key=lambda row: OUTCOMES.index(row.outcome))
    shares = swaps[:, : len(asserted)].mean(axis=0)
    worst = int(shares.argmax())
    most_by = (asserted[worst].test, float(shares[worst]))
    return Proof(golden.name, rows, float(own.mean()), most_by)


@dataclass(frozen=True, slots=True)
class Trial:
    """What was answered to a harm, and to innocent changes of its size."""

    harm: Harm
    fall: tuple[str, float]
    """The metric that fell most, and its mean change; empty if nothing fell."""
    answers: Sequence[Sequence[str]]
    """``[questions][draws]`` what blocks it; empty if nothing does."""
    swaps: BoolArray
    """``[DRAWS, questions]`` whether a question blocks a swapped copy."""


def trial_of(
    harm: Harm,
    copies: HarmedCopies,
    asked: Sequence[Question],
    probes: Sequence[Metric],
    gated: Sequence[Metric],
) -> Trial:
    """Ask questions about every draw of a harm, and about a swapped copy of each."""
    unharmed, answers, swaps = copies.unharmed, [], []
    means: dict[Metric, list[float]] = {metric: [] for metric in (*probes, *gated)}
    for number in range(DRAWS):
        draw = copies.generator(harm.name, number)
        if number < harm.draws:
            changed = harm.changed(draw)
            harmed = copies.with_changed(changed)
            change = Change(harmed, unharmed)
            answers.append([each.blocked_by(change) for each in asked])
            for metric, found in means.items():
                found.append(harmed.mean(metric))
        swapped = {query for query in changed if draw.random() < 0.5}
        sides = ((harmed, unharmed), (unharmed, harmed))
        innocent = Change(*(Evaluation(SwappedQueries(*side, swapped)) for side in sides))
        swaps.append([each.asks_innocents and each.blocked_by(innocent) != "" for each in asked])
    now = {metric: float(np.mean(found)) for metric, found in means.items()}
    fall = _largest_fall(unharmed, now, probes) or _largest_fall(unharmed, now, gated)
    return Trial(harm, fall or ("", 0.0), [*zip(*answers, strict=True)], np.array(swaps))


def _largest_fall(
    before: Evaluation, now: Mapping[Metric, float], metrics: Iterable[Metric]
) -> tuple[str, float] | None:
    """Return the metric that fell most, and by how much; None if none fell."""
    gains = {metric: metric.gain(before.mean(metric), now[metric]) for metric in metrics}
    worst = min(gains, key=lambda metric: gains[metric], default=None)
    if worst is None or not gains[worst] < -SLACK:
        return None
    return str(worst), now[worst] - before.mean(worst)


def _row(
    trial: Trial, asserted: Sequence[Question], usual: Sequence[Question], fits: Sequence[bool]
) -> ProofRow:
    """Return the row of a harm.

    Args:
        trial: the answers, to the assertions first.
        asserted: the assertions.
        usual: gates that could be added.
        fits: whether each of these may be advised.
    """
    own, others = trial.answers[: len(asserted)], trial.answers[len(asserted) :]
    draws = len(own[0])
    blocked = sum(any(answers) for answers in zip(*own, strict=True))
    by = Counter(
        ": ".join(filter(None, (question.test, what)))
        for question, answers in zip(asserted, own, strict=True)
        for what in filter(None, answers)
    )
    outcome = "survives" if trial.fall[0] else "harmless"
    advice = (
        question.name
        for question, answers, is_fit in zip(usual, others, fits, strict=True)
        if is_fit and sum(map(bool, answers)) >= ENOUGH * draws
    )
    return ProofRow(
        trial.harm.name,
        "blocked" if blocked >= ENOUGH * draws else outcome,
        *trial.fall,
        draws,
        blocked,
        by.most_common(1)[0][0] if by else "",
        next(advice, "") if outcome == "survives" and blocked < ENOUGH * draws else "",
    )
