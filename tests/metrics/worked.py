"""What tests of values worked by hand share: rankings given by the grade at each rank."""

from collections.abc import Mapping, Sequence

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

UNJUDGED = None

MIXED = ((UNJUDGED, 0, 1, 2, UNJUDGED, 3), (1, 2))
"""Unjudged, 0, 1, 2, unjudged, 3 are ranked; a 1 and a 2 are not retrieved.

n = 6, m = 5, relevant at 3, 4, 6. For rel=2: m = 3, relevant at 4, 6.
"""

BINARY = ((1, 1, 0, 1, 1, 0, 1, 0, 1, 0), ())
"""The catalogue's binary example: relevant at 1, 2, 4, 5, 7, 9 of 10, m = 6."""


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
