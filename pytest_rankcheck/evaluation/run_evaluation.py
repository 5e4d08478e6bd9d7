"""The evaluation of a run on a golden set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import FloatArray
from pytest_rankcheck.errors import ConfigurationError, quoted
from pytest_rankcheck.evaluation.conventions import Conventions, TieOrder
from pytest_rankcheck.evaluation.joined_evaluation import JoinedEvaluation
from pytest_rankcheck.evaluation.run_golden_join import Joined, join
from pytest_rankcheck.golden.golden_set import GoldenSet
from pytest_rankcheck.rankers.ranked_columns import TOP
from pytest_rankcheck.rankers.ranking import Duplicates, Ties
from pytest_rankcheck.rankers.run import Run

if TYPE_CHECKING:
    from pytest_rankcheck.evaluation.tied_scores import MostlyTied

__all__ = ["RunEvaluation", "conventions_for", "evaluate"]


@checked_arguments
def evaluate(
    run: Run,
    golden: GoldenSet,
    *,
    conventions: Conventions | None = None,
) -> RunEvaluation:
    """Measure ``run`` on ``golden``. Lazy: a metric is computed when it is asked for.

    A `MetricWarning` says so if judged documents are never ranked, or in less than 1% of at least
    50 queries: the ids of the run may not be those of the golden set. Another says so if
    ``doc_id=`` made less than half as many documents of the judged ones.

    Args:
        run: the rankings.
        golden: the judged queries.
        conventions: what a missing query, an extra query and a query without a relevant document
            count as; without them, trec_eval's. ``ties`` and ``duplicates`` are always the run's:
            they were applied when it was made.

    Raises:
        RunError: every ranking of a judged query is empty, which means a broken ranker and not a
            bad one; or a query is missing or extra and the conventions make that an error.
        ConfigurationError: ``conventions`` names ties or duplicates that are not the run's.
    """
    evaluation = RunEvaluation.of(run, golden, conventions)
    evaluation.warn_of_ids()
    return evaluation


def conventions_for(
    run_name: str, ties: Ties, duplicates: Duplicates, golden: GoldenSet, chosen: Conventions
) -> Conventions:
    """Return the chosen conventions, completed by those of the run and the golden set.

    Args:
        run_name: what messages call the run.
        ties: the order of equal scores in the run.
        duplicates: how duplicate documents were treated in the run.
        golden: the judged queries.
        chosen: the conventions that were asked for.

    Raises:
        ConfigurationError: the chosen ties or duplicates differ from the run's, or the chosen
            replay differs from the golden set's.
    """
    if chosen.reading:
        raise ConfigurationError(
            f"reading={quoted(chosen.reading)} does not fit a golden set; it is for session logs"
        )
    replay = golden.replay.convention if golden.replay else ""
    if chosen.replay not in (replay, ""):
        raise ConfigurationError(
            f"replay={quoted(chosen.replay)} does not fit golden set '{quoted(golden.name)}'; "
            "choose the propensity in SessionLog.to_golden_set"
        )
    of_runs: Mapping[str, str] = {"ties": ties, "duplicates": duplicates}
    for name, of_run in of_runs.items():
        of_choice = getattr(chosen, name)
        if of_choice not in (of_run, getattr(Conventions(), name)):
            raise ConfigurationError(
                f"{name}={of_choice} does not fit run '{quoted(run_name)}', which was made with "
                f"{name}={of_run}; make the run with {name}={of_choice!r}"
            )
    return replace(chosen, ties=ties, duplicates=duplicates, replay=replay)


class RunEvaluation(JoinedEvaluation):
    """The evaluation of a run. Make one with `evaluate`."""

    _why_tops = "this run was scanned in its file, and"
    _how_to_know_more = "read the run into memory: Run.from_frame(run.to_frame())"

    def __init__(
        self, run: Run, golden: GoldenSet, conventions: Conventions, joined: Joined
    ) -> None:
        super().__init__(run.name, run.depth, golden, conventions, joined)
        self._run = run
        self._tied: dict[int | None, Sequence[str]] = {}
        self._reordered: dict[TieOrder, RunEvaluation] = {}

    @classmethod
    def of(cls, run: Run, golden: GoldenSet, conventions: Conventions | None) -> RunEvaluation:
        """Return the evaluation of a run, without a warning about ids.

        Raises:
            RunError: as in `evaluate`.
            ConfigurationError: as in `evaluate`.
        """
        chosen = conventions_for(
            run.name, run.ties, run.duplicates, golden, conventions or Conventions()
        )
        return cls(run, golden, chosen, join(run, golden)).checked()

    @property
    def run(self) -> Run:
        """The run that was measured."""
        return self._run

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the means must know about the run or a replayed log, as sentences."""
        return (*self.run.notes, *self.run.part_notes, *super().notes)

    @property
    def known_depth(self) -> int | None:
        """How far down `ranking` goes; None: to the end."""
        return None if self.run.is_in_memory else TOP

    def ranking(self, query_id: str) -> Sequence[str]:
        """Return the documents ranked for a query, best first; empty if the run lacks it.

        Only the top of each ranking, if the run was scanned and not read into memory.
        """
        return self.run.get(query_id) if self.run.is_in_memory else super().ranking(query_id)

    def read_rankings(self, k: int) -> None:
        """Make `ranking` go down to rank ``k`` at least, reading the run into memory if needed."""
        if self.known_depth is not None and k > self.known_depth:
            self.run.read()

    @property
    def is_ranked_here(self) -> bool:
        """Whether a ranker in this process made the run."""
        return bool(self.run.seconds)

    def _ir_measures_values(self, name: str) -> FloatArray:
        from pytest_rankcheck.evaluation.ir_measures_values import ir_measures_values

        return ir_measures_values(name, self.run, self.golden)

    @property
    def has_ties_at_hand(self) -> bool:
        """Whether tied scores are known without reading the run of a large file into memory."""
        return self.run.is_in_memory

    @checked_arguments
    def tied(self, k: int | None = 10) -> Sequence[str]:
        """Return the queries in which a judged document of the top k shares its score.

        Empty if the ranker gives no scores. ``k=None`` means the whole ranking. A run that is still
        in its file is read into memory.
        """
        if k not in self._tied:
            from pytest_rankcheck.evaluation.tied_scores import tied_queries

            self._tied[k] = tied_queries(self.run, self.golden, k)
        return self._tied[k]

    @cached_property
    def mostly_tied(self) -> MostlyTied | None:
        """How many rankings are mostly ties, if at least half of them are; else None."""
        from pytest_rankcheck.evaluation.tied_scores import mostly_tied

        return mostly_tied(self.run, self.golden)

    @checked_arguments
    def with_ties(self, order: TieOrder) -> RunEvaluation:
        """Return the evaluation of the run with its tied documents in another order."""
        if order not in self._reordered:
            from pytest_rankcheck.evaluation.tied_scores import ties_reordered

            self._reordered[order] = self._alike(ties_reordered(self.run, self.golden, order))
        return self._reordered[order]

    def _alike(self, run: Run) -> RunEvaluation:
        """Return the evaluation of another run, measured by the same conventions."""
        conventions = replace(self.conventions, ties=run.ties, duplicates=run.duplicates)
        return RunEvaluation.of(run, self.golden, conventions)

    @cached_property
    def repeats(self) -> Sequence[RunEvaluation]:
        """The evaluations of the run's repeats (``--rankcheck-repeat``), measured alike."""
        return tuple(map(self._alike, self.run.repeats))

    def __repr__(self) -> str:
        return f"RunEvaluation(of {self.run!r} on {self.golden!r})"
