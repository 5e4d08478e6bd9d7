"""The signatures of the named assertions."""

from collections.abc import Mapping
from typing import Protocol

from pytest_rankcheck.assertions.bound_assertions import By
from pytest_rankcheck.baselines.baseline import Baseline
from pytest_rankcheck.baselines.record import Record
from pytest_rankcheck.evaluation.evaluation import Evaluation
from pytest_rankcheck.gates.gate import Gate

class _GainFloor(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        minimum: float,
        *,
        k: int | None = None,
        gain: str | Mapping[float, float] | None = None,
        by: By = None,
        confidence: float | None = None,
        min_queries: int = 30,
    ) -> None: ...

class _GainGate(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        baseline: Baseline | Evaluation | Record,
        *,
        k: int | None = None,
        gain: str | Mapping[float, float] | None = None,
        abs: float | None = None,
        rel: float | None = None,
        gate: Gate | None = None,
        by: By = None,
        min_queries: int | None = None,
    ) -> None: ...

class _LevelFloor(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        minimum: float,
        *,
        k: int | None = None,
        rel_level: float | None = None,
        by: By = None,
        confidence: float | None = None,
        min_queries: int = 30,
    ) -> None: ...

class _LevelGate(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        baseline: Baseline | Evaluation | Record,
        *,
        k: int | None = None,
        rel_level: float | None = None,
        abs: float | None = None,
        rel: float | None = None,
        gate: Gate | None = None,
        by: By = None,
        min_queries: int | None = None,
    ) -> None: ...

class _CutoffFloor(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        minimum: float,
        *,
        k: int | None = None,
        by: By = None,
        confidence: float | None = None,
        min_queries: int = 30,
    ) -> None: ...

class _CutoffGate(Protocol):
    def __call__(
        self,
        evaluation: Evaluation,
        baseline: Baseline | Evaluation | Record,
        *,
        k: int | None = None,
        abs: float | None = None,
        rel: float | None = None,
        gate: Gate | None = None,
        by: By = None,
        min_queries: int | None = None,
    ) -> None: ...

assert_ndcg_at_least: _GainFloor
assert_ndcg_not_regressed: _GainGate
assert_mrr_at_least: _LevelFloor
assert_mrr_not_regressed: _LevelGate
assert_map_at_least: _LevelFloor
assert_map_not_regressed: _LevelGate
assert_precision_at_least: _LevelFloor
assert_precision_not_regressed: _LevelGate
assert_recall_at_least: _LevelFloor
assert_recall_not_regressed: _LevelGate
assert_hit_rate_at_least: _LevelFloor
assert_hit_rate_not_regressed: _LevelGate
assert_err_at_least: _CutoffFloor
assert_err_not_regressed: _CutoffGate
