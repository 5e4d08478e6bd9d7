"""The assertions that carry the name of their metric, made from one table.

`named_assertions.pyi` has their signatures. Only metrics with an argument of their own, and those
that everybody knows by name, have one: ``assert_at_most(evaluation, "SessionDuration", 30)`` reads
as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pytest_rankcheck.argument_checks import checked_arguments
from pytest_rankcheck.assertions.bound_assertions import assert_at_least
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.metrics.metric_names import Metric

if TYPE_CHECKING:
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.record import Record

_GAIN = '``gain`` is ``"linear"``, ``"exponential"`` or a mapping of grades to gains.'
_LEVEL = "``rel_level`` is the lowest relevant grade; without it, every grade above 0 is relevant."
_TABLE = {
    "ndcg": ("nDCG", "nDCG@k", _GAIN),
    "mrr": ("RR", "reciprocal rank@k", _LEVEL),
    "map": ("AP", "average precision@k", _LEVEL),
    "precision": ("P", "precision@k", _LEVEL),
    "recall": ("R", "recall@k", _LEVEL),
    "hit_rate": ("Success", "hit rate@k", _LEVEL),
    "err": ("ERR", "ERR@k", ""),
}
"""By the assertion's name: the metric, what it measures, and what its parameter means."""

_OWN = {_GAIN: {"gain": "gain"}, _LEVEL: {"rel_level": "rel"}}
"""The parameters of the metric, by our keywords."""


def _metric(name: str, k: int | None, options: dict[str, Any]) -> Metric:
    """Return the metric of an assertion; its own parameters are taken out of the options."""
    metric, _, meaning = _TABLE[name]
    own = _OWN.get(meaning, {})
    return Metric.of(metric, k, **{own[key]: options.pop(key) for key in own if key in options})


def _at_least(name: str) -> Callable[..., None]:
    @checked_arguments
    def check(
        evaluation: Evaluation, minimum: float, *, k: int | None = None, **options: Any
    ) -> None:
        metric = _metric(name, k, options)
        assert_at_least(evaluation, metric, minimum, **options)

    return _described(check, name, "at_least", "the mean {} is below ``minimum``")


def _not_regressed(name: str) -> Callable[..., None]:
    @checked_arguments
    def check(
        evaluation: Evaluation,
        baseline: Baseline | Evaluation | Record,
        *,
        k: int | None = None,
        **options: Any,
    ) -> None:
        from pytest_rankcheck.assertions.regression_assertion import (
            assert_not_regressed,  # a floor loads no baselines
        )

        metric = _metric(name, k, options)
        assert_not_regressed(evaluation, baseline, metric, **options)

    return _described(check, name, "not_regressed", "the mean {} regressed against the baseline")


def _described(
    check: Callable[..., None], name: str, verb: str, failure: str
) -> Callable[..., None]:
    _, subject, meaning = _TABLE[name]
    check.__name__ = check.__qualname__ = f"assert_{name}_{verb}"
    text = f"Fail if {failure.format(subject)}. The options are those of `assert_{verb}`."
    check.__doc__ = f"{text}\n\n{meaning}".rstrip()
    return check


for _name in _TABLE:
    globals()[f"assert_{_name}_at_least"] = _at_least(_name)
    globals()[f"assert_{_name}_not_regressed"] = _not_regressed(_name)
