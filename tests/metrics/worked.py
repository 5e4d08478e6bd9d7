"""A ranking given by the grade at each rank, for comparison with values worked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

UNJUDGED = None


def evaluation_of(
    ranked: Sequence[float | None], unretrieved: Sequence[float] = (), **golden: object
) -> Evaluation:
    """Return the evaluation of query ``q``, given the grade at each rank (None: not judged)."""
    judged = {f"d{i}": grade for i, grade in enumerate(ranked) if grade is not UNJUDGED}
    judged.update({f"missed{i}": grade for i, grade in enumerate(unretrieved)})
    judgments: Mapping[str, Mapping[str, float]] = {"q": judged, **golden}
    run = Run.from_dict(
        {"q": [f"d{i}" for i in range(len(ranked))], **{query: ["x"] for query in golden}}
    )
    return evaluate(run, GoldenSet.from_dict(judgments))


def value(
    metric: str, ranked: Sequence[float | None], unretrieved: Sequence[float] = (), **golden: object
) -> float:
    """Return a metric of one ranking, given the grade at each rank."""
    return float(evaluation_of(ranked, unretrieved, **golden).per_query(metric)["q"])
