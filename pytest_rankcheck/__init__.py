"""Ranking regression testing for pytest: golden sets, metrics, gates and approved baselines.

The public names are loaded when they are first used (PEP 562), so importing the package, as
pytest does at every start, costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_rankcheck.assertions.bound_assertions import assert_at_least, assert_at_most
    from pytest_rankcheck.assertions.determinism_assertion import assert_deterministic
    from pytest_rankcheck.assertions.expectation_assertion import assert_expectations
    from pytest_rankcheck.assertions.invariance_assertions import assert_direction, assert_invariant
    from pytest_rankcheck.assertions.named_assertions import (
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
    from pytest_rankcheck.assertions.regression_assertion import assert_not_regressed
    from pytest_rankcheck.assertions.session_assertions import (
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
    from pytest_rankcheck.assertions.stability_assertion import assert_ranking_stable
    from pytest_rankcheck.baselines.baseline import Baseline
    from pytest_rankcheck.baselines.record import Record
    from pytest_rankcheck.baselines.record_reader import read_record
    from pytest_rankcheck.behaviour.perturbations import perturbations
    from pytest_rankcheck.behaviour.perturbed_answers import PerturbedQuery
    from pytest_rankcheck.comparison.comparison import Comparison, compare
    from pytest_rankcheck.comparison.document_moves import Move
    from pytest_rankcheck.comparison.query_planning import plan
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
    from pytest_rankcheck.evaluation.conventions import Conventions
    from pytest_rankcheck.evaluation.evaluation import Evaluation
    from pytest_rankcheck.evaluation.run_evaluation import RunEvaluation, evaluate
    from pytest_rankcheck.evaluation.session_evaluation import SessionEvaluation, evaluate_sessions
    from pytest_rankcheck.gates.gate import Gate
    from pytest_rankcheck.gates.verdict import Outcome, Verdict
    from pytest_rankcheck.golden.expectation import Expectation
    from pytest_rankcheck.golden.golden_set import GoldenSet
    from pytest_rankcheck.golden.lint.lint_finding import Finding
    from pytest_rankcheck.golden.query import Query
    from pytest_rankcheck.metrics.judged_hits import JudgedHits
    from pytest_rankcheck.metrics.laws.law_check import check_metric
    from pytest_rankcheck.metrics.laws.law_report import LawReport
    from pytest_rankcheck.metrics.metric_names import Metric
    from pytest_rankcheck.metrics.metric_parameters import Parameter
    from pytest_rankcheck.metrics.metric_registry import metric
    from pytest_rankcheck.metrics.similarity.order_similarity import (
        kendall_distance,
        kendall_tau,
        spearman,
        tau_ap,
    )
    from pytest_rankcheck.metrics.similarity.rank_biased_overlap import rbo
    from pytest_rankcheck.metrics.similarity.top_k_similarity import jaccard, overlap, top_k_kendall
    from pytest_rankcheck.rankers.adapters.batch_ranker import batch
    from pytest_rankcheck.rankers.adapters.embedding_ranker import embedder
    from pytest_rankcheck.rankers.adapters.http_ranker import http
    from pytest_rankcheck.rankers.adapters.model_ranker import model
    from pytest_rankcheck.rankers.adapters.scorer_ranker import scorer
    from pytest_rankcheck.rankers.adapters.transformer_ranker import transformer
    from pytest_rankcheck.rankers.rank import rank
    from pytest_rankcheck.rankers.run import Run
    from pytest_rankcheck.resolution.metric_resolution import Resolution
    from pytest_rankcheck.resolution.resolution_table import Resolutions
    from pytest_rankcheck.sessions.session_log import SessionLog

__version__ = "0.1.0"

_HOMES = {
    "assertions.determinism_assertion": ("assert_deterministic",),
    "assertions.expectation_assertion": ("assert_expectations",),
    "assertions.bound_assertions": ("assert_at_least", "assert_at_most"),
    "assertions.invariance_assertions": ("assert_direction", "assert_invariant"),
    "assertions.named_assertions": (
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
    "assertions.regression_assertion": ("assert_not_regressed",),
    "assertions.stability_assertion": ("assert_ranking_stable",),
    "assertions.session_assertions": (
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
    "baselines.record_reader": ("read_record",),
    "baselines.record": ("Record",),
    "behaviour.perturbed_answers": ("PerturbedQuery",),
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
    "comparison.comparison": ("Comparison", "compare"),
    "comparison.query_planning": ("plan",),
    "comparison.document_moves": ("Move",),
    "evaluation.conventions": ("Conventions",),
    "evaluation.evaluation": ("Evaluation",),
    "evaluation.run_evaluation": ("RunEvaluation", "evaluate"),
    "resolution.metric_resolution": ("Resolution",),
    "resolution.resolution_table": ("Resolutions",),
    "evaluation.session_evaluation": ("SessionEvaluation", "evaluate_sessions"),
    "gates.gate": ("Gate",),
    "gates.verdict": ("Outcome", "Verdict"),
    "golden.expectation": ("Expectation",),
    "golden.golden_set": ("GoldenSet",),
    "golden.lint.lint_finding": ("Finding",),
    "golden.query": ("Query",),
    "metrics.judged_hits": ("JudgedHits",),
    "metrics.laws.law_check": ("check_metric",),
    "metrics.laws.law_report": ("LawReport",),
    "metrics.metric_names": ("Metric",),
    "metrics.metric_parameters": ("Parameter",),
    "metrics.metric_registry": ("metric",),
    "metrics.similarity.top_k_similarity": ("jaccard", "overlap", "top_k_kendall"),
    "metrics.similarity.order_similarity": (
        "kendall_distance",
        "kendall_tau",
        "spearman",
        "tau_ap",
    ),
    "metrics.similarity.rank_biased_overlap": ("rbo",),
    "rankers.adapters.batch_ranker": ("batch",),
    "rankers.adapters.embedding_ranker": ("embedder",),
    "rankers.adapters.http_ranker": ("http",),
    "rankers.adapters.model_ranker": ("model",),
    "rankers.adapters.scorer_ranker": ("scorer",),
    "rankers.adapters.transformer_ranker": ("transformer",),
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
    "PerturbedQuery",
    "Query",
    "RankcheckError",
    "RankerError",
    "Record",
    "Resolution",
    "Resolutions",
    "Run",
    "RunError",
    "RunEvaluation",
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
    "plan",
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
