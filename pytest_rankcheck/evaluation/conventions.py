"""The conventions of a measurement: choices that change numbers, each named and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

import numpy as np

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.array_types import BoolArray, FloatArray
from pytest_rankcheck.errors import ConfigurationError, RunError, listed, quoted, suggestion
from pytest_rankcheck.evaluation.tied_scores import ties_reordered
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.rankers.ranking import Duplicates, Ties

if TYPE_CHECKING:
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run


Missing = Literal["empty", "error"]
"""A judged query that the run lacks: an empty ranking (trec_eval ``-c``), or an error."""

Extra = Literal["ignore", "error"]
"""A query of the run without judgments: ignored, or an error."""

OwnDocument = Literal["keep", "drop"]
"""A ranked document whose id is that of its query: it counts, or is left out, and the documents
below it move up, as in BEIR and in MTEB's tasks whose queries are documents."""

NoRelevant = Literal["zero", "exclude", "one", "one_in_ndcg"]
"""A query with no grade above 0: it scores 0 and is in the mean; it is left out of the mean; its
nDCG and AP are 1 (``one``: LightGBM, XGBoost); or only its nDCG is 1 (``one_in_ndcg``:
CatBoost)."""

Gain = Literal["linear", "exponential"]
"""The gain of nDCG if its name has none."""

Divide = Literal["relevant", "min"]
"""What AP is divided by if its name does not say."""


_LATER = ("gain", "divide", "own_document", "replay", "reading")
"""The conventions that are not in every record."""
_UNSAID = {"nDCG": "gain", "AP": "divide"}
"""The parameter that a convention decides if the name of a metric does not."""
_BOOSTED = {"ties": "input", "no_relevant": "one", "gain": "exponential", "divide": "min"}
_PRESETS: Mapping[str, Mapping[str, str]] = {
    "lightgbm": _BOOSTED,
    "xgboost": _BOOSTED,
    "catboost": {"ties": "worst", "no_relevant": "one_in_ndcg", "divide": "min"},
}
"""The conventions of tools, so that nDCG and AP equal what they print as ndcg and map."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """How ties, gaps and repetitions are treated. The defaults are trec_eval's.

    Raises:
        RunError: a value is unknown; the message names the allowed ones.
    """

    ties: Ties = "doc_id"
    """The order of documents with equal scores: by descending id, as in the input, the lowest grade
    first (``worst``), or an error."""
    duplicates: Duplicates = "error"
    """A duplicate document in a ranking: an error; or only its first place counts, and the
    documents below move up (``close_gaps``) or stay (``keep_places``)."""
    missing: Missing = "empty"
    """A judged query that the run lacks: an empty ranking, or an error."""
    extra: Extra = "ignore"
    """A query of the run without judgments: ignored, or an error."""
    no_relevant: NoRelevant = "zero"
    """A query with no grade above 0: it scores 0 and is in the mean; it is left out of the mean;
    its nDCG and AP are 1 (``one``); or only its nDCG is 1 (``one_in_ndcg``)."""
    gain: Gain = "linear"
    """The gain of nDCG if its name has none."""
    divide: Divide = "relevant"
    """What AP is divided by if its name does not say."""
    own_document: OwnDocument = "keep"
    """A ranked document whose id is that of its query: it counts, or is left out (``drop``)."""
    replay: str = ""
    """How the positions of a replayed log were corrected; empty for other golden sets. It is always
    that of the golden set."""
    reading: str = ""
    """The options with which a session log was read; empty for the usual ones, and for golden sets.
    It is always that of the log."""

    def __post_init__(self) -> None:
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if allowed and value not in allowed:
                raise RunError(
                    f"{name}={quoted(value)} is invalid{suggestion(str(value), allowed)}; "
                    f"allowed: {', '.join(allowed)}"
                )

    @classmethod
    @checked_arguments
    def from_dict(cls, chosen: Mapping[str, str]) -> Conventions:
        """Return the conventions with these names and values, and defaults for the rest.

        The name of a preset such as ``lightgbm``, with an empty value, stands for its conventions.

        Raises:
            ConfigurationError: an unknown convention or value.
        """
        names = [field.name for field in fields(cls)]
        presets = [name for name in chosen if name in _PRESETS]
        if len(presets) > 1 or any(chosen[name] for name in presets):
            raise ConfigurationError(
                f"{listed(presets)}: the name of a tool stands for all its conventions; give one "
                "such name, without a value"
            )
        given: dict[str, Any] = {}
        for name in sorted(chosen, key=names.__contains__):  # other names override a preset
            if name not in (*names, *_PRESETS):
                raise ConfigurationError(
                    f"unknown convention '{quoted(name)}'{suggestion(name, [*names, *_PRESETS])}; "
                    f"the conventions are {', '.join(names)}, or those of {', '.join(_PRESETS)}"
                )
            given |= _PRESETS.get(name, {name: chosen[name]})
        try:
            return cls(**given)
        except RunError as error:
            raise ConfigurationError(str(error)) from None

    @classmethod
    def of(cls, chosen: Conventions | str | None) -> Conventions:
        """Return the conventions of a preset, the given ones, or the defaults.

        Raises:
            ConfigurationError: an unknown preset.
        """
        given = cls.from_dict({chosen: ""}) if isinstance(chosen, str) else chosen
        return given or cls()

    def to_dict(self) -> dict[str, str]:
        """Return the conventions by name; later additions only if they are not the default."""
        return {
            name: chosen
            for name, chosen in asdict(self).items()
            if name not in _LATER or chosen != getattr(_USUAL, name)
        }


_ALLOWED = {name: get_args(kind) for name, kind in get_type_hints(Conventions).items()}
"""The values that each convention can have; empty if any value is allowed."""
_USUAL = Conventions()


def run_as_chosen(run: Run, golden: GoldenSet, chosen: Conventions) -> Run:
    """Return a run with ties in the chosen order, and without the documents to be dropped."""
    if chosen.own_document == "drop":
        run = run.without_own_documents()
    if chosen.ties == "worst":
        run = ties_reordered(run, golden, "worst", keeps_scores=True)
    return run


def meant(metric: Metric, chosen: Conventions) -> Metric:
    """Return the metric that a name without a gain or a denominator means."""
    name, given = _UNSAID.get(metric.name, ""), dict(metric.parameters)
    if given.get(name, "") != getattr(_USUAL, name, None):
        return metric
    given[name] = getattr(chosen, name)
    return Metric(metric.definition, tuple(given.items()), metric.cutoff)


def settled(
    metric: Metric, values: FloatArray, has_relevant: BoolArray, chosen: Conventions
) -> FloatArray:
    """Return the values, with queries without a relevant document counted as chosen."""
    ones = {"one": (*_UNSAID,), "one_in_ndcg": ("nDCG",)}.get(chosen.no_relevant, ())
    if metric.name in ones:
        return np.where(has_relevant, values, 1.0)
    if chosen.no_relevant == "exclude":
        return metric.kind.left_out(values, has_relevant)
    return values


def conventions_for(run: Run, golden: GoldenSet, given: Conventions | str | None) -> Conventions:
    """Return the chosen conventions, completed by those of a run and of the golden set.

    Raises:
        ConfigurationError: the chosen ties or duplicates differ from the run's, or the chosen
            replay differs from the golden set's.
    """
    chosen = Conventions.of(given)
    replay = golden.replay.convention if golden.replay else ""
    if chosen.reading or chosen.replay not in (replay, ""):
        raise ConfigurationError(
            "reading and replay are decided where a session log is read or replayed; give neither "
            f"for golden set '{quoted(golden.name)}'"
        )
    for name in ("ties", "duplicates"):
        of_choice, of_run = getattr(chosen, name), getattr(run, name)
        if of_choice not in (of_run, getattr(_USUAL, name), "worst"):
            raise ConfigurationError(
                f"{name}={of_choice} does not fit run '{quoted(run.name)}', which was made with "
                f"{name}={of_run}; make the run with {name}={of_choice!r}"
            )
    ties = chosen.ties if chosen.ties == "worst" else run.ties
    return replace(chosen, ties=ties, duplicates=run.duplicates, replay=replay)
