"""Ranking regression testing for pytest: golden sets, metrics, gates and approved baselines.

The public names are loaded when they are first used (PEP 562), so importing the package, as
pytest does at every start, costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rankcheck.assertions.bounds import assert_at_least, assert_at_most
    from pytest_rankcheck.assertions.determinism import assert_deterministic
    from pytest_rankcheck.assertions.expectations import assert_expectations
    from pytest_rankcheck.assertions.invariance import assert_direction, assert_invariant
    from pytest_rankcheck.assertions.named import (
        assert_err_at_least,
        assert_err_not_regressed,
        assert_hit_rate_at_least,
        assert_hit_rate_not_regressed,
        assert_map_at_least,
        assert_map_not_regressed,
        assert_mrr_at_least,
        assert_mrr_not_regressed,
        assert_ndcg_at_least,
        assert_ndcg_not_regressed,
        assert_precision_at_least,
        assert_precision_not_regressed,
        assert_recall_at_least,
        assert_recall_not_regressed,
    )
    from pytest_rankcheck.assertions.regression import assert_not_regressed
    from pytest_rankcheck.assertions.sessions import (
        assert_abandonment_rate_at_most,
        assert_abandonment_rate_not_regressed,
        assert_mean_event_rank_at_most,
        assert_mean_event_rank_not_regressed,
        assert_session_duration_at_most,
        assert_session_duration_not_regressed,
        assert_session_mrr_at_least,
        assert_session_mrr_not_regressed,
        assert_success_rate_at_least,
        assert_success_rate_not_regressed,
    )
    from pytest_rankcheck.assertions.stability import assert_ranking_stable
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.reading import read_record
    from pytest_rankcheck.baselines.record import Record
    from pytest_rankcheck.behaviour.invariance import Perturbed
    from pytest_rankcheck.behaviour.perturbations import perturbations
    from pytest_rankcheck.errors import (
        BaselineError,
        ConfigurationError,
        GoldenSetError,
        MetricError,
        MetricWarning,
        RankcheckError,
        RankerError,
        RunError,
        SessionLogError,
    )
    from pytest_rankcheck.evaluation.comparison import Comparison, compare
    from pytest_rankcheck.evaluation.conventions import Conventions
    from pytest_rankcheck.evaluation.evaluation import Evaluation, evaluate
    from pytest_rankcheck.evaluation.moves import Move
    from pytest_rankcheck.evaluation.resolution import Resolution
    from pytest_rankcheck.evaluation.resolutions import Resolutions
    from pytest_rankcheck.evaluation.session_evaluation import SessionEvaluation, evaluate_sessions
    from pytest_rankcheck.gates.gate import Gate
    from pytest_rankcheck.gates.verdict import Outcome, Verdict
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.finding import Finding
    from pytest_rankcheck.golden.query import Query
    from pytest_rankcheck.metrics.hits import JudgedHits
    from pytest_rankcheck.metrics.laws.check import check_metric
    from pytest_rankcheck.metrics.laws.report import LawReport
    from pytest_rankcheck.metrics.names import Metric
    from pytest_rankcheck.metrics.parameters import Parameter
    from pytest_rankcheck.metrics.registry import metric
    from pytest_rankcheck.metrics.similarity.lists import jaccard, overlap, top_k_kendall
    from pytest_rankcheck.metrics.similarity.order import (
        kendall_distance,
        kendall_tau,
        spearman,
        tau_ap,
    )
    from pytest_rankcheck.metrics.similarity.rbo import rbo
    from pytest_rankcheck.rankers.adapters.batch import batch
    from pytest_rankcheck.rankers.adapters.embedder import embedder
    from pytest_rankcheck.rankers.adapters.http import http
    from pytest_rankcheck.rankers.adapters.model import model
    from pytest_rankcheck.rankers.adapters.scorer import scorer
    from pytest_rankcheck.rankers.adapters.transformer import transformer
    from pytest_rankcheck.rankers.rank import rank
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.sessions.session_log import SessionLog

__version__ = "0.1.0"

_HOMES = {
    "assertions.determinism": ("assert_deterministic",),
    "assertions.expectations": ("assert_expectations",),
    "assertions.bounds": ("assert_at_least", "assert_at_most"),
    "assertions.invariance": ("assert_direction", "assert_invariant"),
    "assertions.named": (
        "assert_err_at_least",
        "assert_err_not_regressed",
        "assert_hit_rate_at_least",
        "assert_hit_rate_not_regressed",
        "assert_map_at_least",
        "assert_map_not_regressed",
        "assert_mrr_at_least",
        "assert_mrr_not_regressed",
        "assert_ndcg_at_least",
        "assert_ndcg_not_regressed",
        "assert_precision_at_least",
        "assert_precision_not_regressed",
        "assert_recall_at_least",
        "assert_recall_not_regressed",
    ),
    "assertions.regression": ("assert_not_regressed",),
    "assertions.stability": ("assert_ranking_stable",),
    "assertions.sessions": (
        "assert_abandonment_rate_at_most",
        "assert_abandonment_rate_not_regressed",
        "assert_mean_event_rank_at_most",
        "assert_mean_event_rank_not_regressed",
        "assert_session_duration_at_most",
        "assert_session_duration_not_regressed",
        "assert_session_mrr_at_least",
        "assert_session_mrr_not_regressed",
        "assert_success_rate_at_least",
        "assert_success_rate_not_regressed",
    ),
    "baselines.baseline": ("Baseline",),
    "baselines.reading": ("read_record",),
    "baselines.record": ("Record",),
    "behaviour.invariance": ("Perturbed",),
    "behaviour.perturbations": ("perturbations",),
    "errors": (
        "BaselineError",
        "ConfigurationError",
        "GoldenSetError",
        "MetricError",
        "MetricWarning",
        "RankcheckError",
        "RankerError",
        "RunError",
        "SessionLogError",
    ),
    "evaluation.comparison": ("Comparison", "compare"),
    "evaluation.moves": ("Move",),
    "evaluation.conventions": ("Conventions",),
    "evaluation.evaluation": ("Evaluation", "evaluate"),
    "evaluation.resolution": ("Resolution",),
    "evaluation.resolutions": ("Resolutions",),
    "evaluation.session_evaluation": ("SessionEvaluation", "evaluate_sessions"),
    "gates.gate": ("Gate",),
    "gates.verdict": ("Outcome", "Verdict"),
    "golden.expectation": ("Expectation",),
    "golden.golden_set": ("GoldenSet",),
    "golden.lint.finding": ("Finding",),
    "golden.query": ("Query",),
    "metrics.hits": ("JudgedHits",),
    "metrics.laws.check": ("check_metric",),
    "metrics.laws.report": ("LawReport",),
    "metrics.names": ("Metric",),
    "metrics.parameters": ("Parameter",),
    "metrics.registry": ("metric",),
    "metrics.similarity.lists": ("jaccard", "overlap", "top_k_kendall"),
    "metrics.similarity.order": ("kendall_distance", "kendall_tau", "spearman", "tau_ap"),
    "metrics.similarity.rbo": ("rbo",),
    "rankers.adapters.batch": ("batch",),
    "rankers.adapters.embedder": ("embedder",),
    "rankers.adapters.http": ("http",),
    "rankers.adapters.model": ("model",),
    "rankers.adapters.scorer": ("scorer",),
    "rankers.adapters.transformer": ("transformer",),
    "rankers.rank": ("rank",),
    "rankers.run": ("Run",),
    "sessions.session_log": ("SessionLog",),
}
"""The public names by the module that defines them."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Baseline",
    "BaselineError",
    "Comparison",
    "ConfigurationError",
    "Conventions",
    "Evaluation",
    "Expectation",
    "Finding",
    "Gate",
    "GoldenSet",
    "GoldenSetError",
    "JudgedHits",
    "LawReport",
    "Metric",
    "MetricError",
    "MetricWarning",
    "Move",
    "Outcome",
    "Parameter",
    "Perturbed",
    "Query",
    "RankcheckError",
    "RankerError",
    "Record",
    "Resolution",
    "Resolutions",
    "Run",
    "RunError",
    "SessionEvaluation",
    "SessionLog",
    "SessionLogError",
    "Verdict",
    "__version__",
    "assert_abandonment_rate_at_most",
    "assert_abandonment_rate_not_regressed",
    "assert_at_least",
    "assert_at_most",
    "assert_deterministic",
    "assert_direction",
    "assert_err_at_least",
    "assert_err_not_regressed",
    "assert_expectations",
    "assert_hit_rate_at_least",
    "assert_hit_rate_not_regressed",
    "assert_invariant",
    "assert_map_at_least",
    "assert_map_not_regressed",
    "assert_mean_event_rank_at_most",
    "assert_mean_event_rank_not_regressed",
    "assert_mrr_at_least",
    "assert_mrr_not_regressed",
    "assert_ndcg_at_least",
    "assert_ndcg_not_regressed",
    "assert_not_regressed",
    "assert_precision_at_least",
    "assert_precision_not_regressed",
    "assert_ranking_stable",
    "assert_recall_at_least",
    "assert_recall_not_regressed",
    "assert_session_duration_at_most",
    "assert_session_duration_not_regressed",
    "assert_session_mrr_at_least",
    "assert_session_mrr_not_regressed",
    "assert_success_rate_at_least",
    "assert_success_rate_not_regressed",
    "batch",
    "check_metric",
    "compare",
    "embedder",
    "evaluate",
    "evaluate_sessions",
    "http",
    "jaccard",
    "kendall_distance",
    "kendall_tau",
    "metric",
    "model",
    "overlap",
    "perturbations",
    "rank",
    "rbo",
    "read_record",
    "scorer",
    "spearman",
    "tau_ap",
    "top_k_kendall",
    "transformer",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
