"""The conventions of a measurement: each a choice that changes numbers, named and stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Literal, get_args, get_type_hints

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.errors import ConfigurationError, RunError, quoted, suggestion
from pytest_rankcheck.rankers.ranking import Duplicates, Ties

if TYPE_CHECKING:
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.rankers.run import Run


Missing = Literal["empty", "error"]
"""A judged query that the run lacks: an empty ranking (trec_eval ``-c``), or an error."""

Extra = Literal["ignore", "error"]
"""A query of the run without judgments: ignored, or an error."""

TieOrder = Literal["best", "worst"]
"""Among documents with the same score: the highest grade first, or last."""

NoRelevant = Literal["zero", "exclude"]
"""A query with no grade above 0: scores 0 and is in the mean, or is left out of the mean."""


@dataclass(frozen=True, slots=True)
class Conventions:
    """How ties, gaps and repetitions are treated. The defaults are trec_eval's.

    Raises:
        RunError: a value is unknown; the message names the allowed ones.
    """

    ties: Ties = "doc_id"
    """The order of documents with equal scores: by descending id, as in the input, or an error."""
    duplicates: Duplicates = "error"
    """A document that occurs twice in a ranking: an error; or only its first place counts, and the
    documents below move up (``close_gaps``) or stay (``keep_places``)."""
    missing: Missing = "empty"
    """A judged query that the run lacks: an empty ranking, or an error."""
    extra: Extra = "ignore"
    """A query of the run without judgments: ignored, or an error."""
    no_relevant: NoRelevant = "zero"
    """A query with no grade above 0: scores 0 and is in the mean, or is left out of the mean."""
    replay: str = ""
    """How the positions of a replayed log were corrected; empty for other golden sets. It always
    is the golden set's."""
    reading: str = ""
    """With which options a session log was read; empty with the usual ones, and for golden sets. It
    always is the log's."""

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(Conventions).items():
            value, allowed = getattr(self, name), get_args(kind)
            if allowed and value not in allowed:
                raise RunError(
                    f"{name}={quoted(value)} is invalid{suggestion(str(value), allowed)}; "
                    f"allowed: {', '.join(allowed)}"
                )

    @classmethod
    @checked_arguments
    def from_dict(cls, chosen: Mapping[str, str]) -> Conventions:
        """Return the conventions with these names and values, defaults for the rest.

        Raises:
            ConfigurationError: an unknown convention or value.
        """
        names = [field.name for field in fields(cls)]
        for name in chosen:
            if name not in names:
                raise ConfigurationError(
                    f"unknown convention '{quoted(name)}'{suggestion(name, names)}; "
                    f"the conventions are {', '.join(names)}"
                )
        try:
            return cls(**chosen)  # type: ignore[arg-type]
        except RunError as error:
            raise ConfigurationError(str(error)) from None

    def to_dict(self) -> dict[str, str]:
        """Return the conventions by name; without `replay` and `reading` where they are empty."""
        return {
            name: chosen
            for name, chosen in asdict(self).items()
            if chosen or name not in ("replay", "reading")
        }


def conventions_for(run: Run, golden: GoldenSet, chosen: Conventions | None) -> Conventions:
    """Return the chosen conventions, completed by those of a run and of the golden set.

    Raises:
        ConfigurationError: the chosen ties or duplicates differ from the run's, or the chosen
            replay differs from the golden set's.
    """
    chosen, usual = chosen or Conventions(), Conventions()
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
    for name in ("ties", "duplicates"):
        of_choice, of_run = getattr(chosen, name), getattr(run, name)
        if of_choice not in (of_run, getattr(usual, name)):
            raise ConfigurationError(
                f"{name}={of_choice} does not fit run '{quoted(run.name)}', which was made with "
                f"{name}={of_run}; make the run with {name}={of_choice!r}"
            )
    return replace(chosen, ties=run.ties, duplicates=run.duplicates, replay=replay)
