# The public names, each stated once: type checkers read this file, and so does __init__.py when
# the first name is used. What is not listed here is private.

from pytest_rankcheck import metrics as metrics, rankers as rankers
from pytest_rankcheck.assertions.bound_assertions import (
    assert_at_least as assert_at_least,
    assert_at_most as assert_at_most,
)
from pytest_rankcheck.assertions.behaviour_assertions import (
    assert_consistent_depth as assert_consistent_depth,
    assert_deterministic as assert_deterministic,
    assert_expectations as assert_expectations,
    assert_invariant as assert_invariant,
    assert_ranking_stable as assert_ranking_stable,
)
from pytest_rankcheck.assertions.named_assertions import (
    assert_err_at_least as assert_err_at_least,
    assert_err_not_regressed as assert_err_not_regressed,
    assert_hit_rate_at_least as assert_hit_rate_at_least,
    assert_hit_rate_not_regressed as assert_hit_rate_not_regressed,
    assert_map_at_least as assert_map_at_least,
    assert_map_not_regressed as assert_map_not_regressed,
    assert_mrr_at_least as assert_mrr_at_least,
    assert_mrr_not_regressed as assert_mrr_not_regressed,
    assert_ndcg_at_least as assert_ndcg_at_least,
    assert_ndcg_not_regressed as assert_ndcg_not_regressed,
    assert_precision_at_least as assert_precision_at_least,
    assert_precision_not_regressed as assert_precision_not_regressed,
    assert_recall_at_least as assert_recall_at_least,
    assert_recall_not_regressed as assert_recall_not_regressed,
)
from pytest_rankcheck.assertions.regression_assertion import (
    assert_not_regressed as assert_not_regressed,
)
from pytest_rankcheck.baselines.change import Approval as Approval
from pytest_rankcheck.baselines.change import Change as Change
from pytest_rankcheck.baselines.baseline import Baseline as Baseline
from pytest_rankcheck.baselines.record import Record as Record
from pytest_rankcheck.baselines.recorded_metric import RecordedMetric as RecordedMetric
from pytest_rankcheck.baselines.record import RecordedSet as RecordedSet
from pytest_rankcheck.baselines.recorded_queries import RecordedQueries as RecordedQueries
from pytest_rankcheck.behaviour.changed_queries import counterfactual as counterfactual
from pytest_rankcheck.comparison.compared_values import ComparedValues as ComparedValues
from pytest_rankcheck.comparison.comparison import Comparison as Comparison, compare as compare
from pytest_rankcheck.comparison.cause import Cause as Cause, CauseKind as CauseKind
from pytest_rankcheck.comparison.rank_changes import Move as Move
from pytest_rankcheck.comparison.compared_values import Paired as Paired
from pytest_rankcheck.comparison.query_planning import plan as plan
from pytest_rankcheck.comparison.runs_comparison import (
    RunRow as RunRow,
    RunsComparison as RunsComparison,
    compare_runs as compare_runs,
)
from pytest_rankcheck.comparison.unjudged_documents import Unjudged as Unjudged
from pytest_rankcheck.comparison.compared_values import Unpaired as Unpaired
from pytest_rankcheck.statistics.run_noise import RunNoise as RunNoise
from pytest_rankcheck.errors import (
    BaselineError as BaselineError,
    ConfigurationError as ConfigurationError,
    GoldenSetError as GoldenSetError,
    MetricError as MetricError,
    MetricWarning as MetricWarning,
    RankcheckError as RankcheckError,
    RankerError as RankerError,
    RunError as RunError,
    SessionLogError as SessionLogError,
    UnknownIdError as UnknownIdError,
)
from pytest_rankcheck.evaluation.array_evaluation import evaluate_arrays as evaluate_arrays
from pytest_rankcheck.evaluation.conventions import Conventions as Conventions
from pytest_rankcheck.evaluation.evaluation import Evaluation as Evaluation
from pytest_rankcheck.evaluation.evaluation_part import (
    EvaluationPart as EvaluationPart,
    evaluate_part as evaluate_part,
)
from pytest_rankcheck.evaluation.measured_runs import evaluate as evaluate
from pytest_rankcheck.evaluation.session_evaluation import (
    evaluate_sessions as evaluate_sessions,
)
from pytest_rankcheck.gates.lost_answers import LostAnswers as LostAnswers
from pytest_rankcheck.gates.verdict import (
    Decision as Decision,
    Gap as Gap,
    MixEffect as MixEffect,
    Outcome as Outcome,
    ReplayEvidence as ReplayEvidence,
    TieEffect as TieEffect,
    Verdict as Verdict,
)
from pytest_rankcheck.gates.gate import Gate as Gate
from pytest_rankcheck.gates.gate_rule import Evidence as Evidence, GateRule as GateRule
from pytest_rankcheck.golden.expectation import Expectation as Expectation
from pytest_rankcheck.golden.golden_set import GoldenSet as GoldenSet
from pytest_rankcheck.golden.lint.lint_rule import LintFinding as LintFinding
from pytest_rankcheck.golden.query import Query as Query
from pytest_rankcheck.metrics.judged_hits import JudgedHits as JudgedHits
from pytest_rankcheck.metrics.metric_laws import (
    LawReport as LawReport,
    check_metric as check_metric,
)
from pytest_rankcheck.metrics.metric_names import Metric as Metric
from pytest_rankcheck.metrics.metric_parameters import Parameter as Parameter
from pytest_rankcheck.metrics.metric_registry import metric as metric
from pytest_rankcheck.metrics.ranking_similarity import (
    jaccard as jaccard,
    kendall_distance as kendall_distance,
    kendall_tau as kendall_tau,
    overlap as overlap,
    rbo as rbo,
    spearman as spearman,
    tau_ap as tau_ap,
    top_k_kendall as top_k_kendall,
)
from pytest_rankcheck.proof.proof import prove as prove
from pytest_rankcheck.rankers.rank import rank as rank
from pytest_rankcheck.rankers.run import Run as Run
from pytest_rankcheck.sessions.log_sources import SetAside as SetAside
from pytest_rankcheck.sessions.session_log import SessionState as SessionState
from pytest_rankcheck.sessions.session_log import SessionLog as SessionLog
from pytest_rankcheck.statistics.mean_differences import Differences as Differences

__version__: str
