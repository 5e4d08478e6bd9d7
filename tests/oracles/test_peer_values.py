"""Values that other libraries computed, recorded with their versions by `peer_values.py`."""

import json
import math
from typing import Any

import pytest
from peer_values import FILE, IR_MEASURES, PEERS, PYTREC_EVAL, computed

from pytest_rankcheck import GoldenSet, Metric, Run, evaluate
from pytest_rankcheck.metrics.ranking_similarity import rbo
from pytest_rankcheck.statistics.multiplicity import holm
from pytest_rankcheck.statistics.sample_size import queries_needed

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

RECORD = json.loads(FILE.read_text("utf-8"))


def recorded(peer: str) -> Any:
    return RECORD[peer]["recorded"]


def test_pytrec_eval_agrees_on_every_query() -> None:
    data = recorded("pytrec_eval-terrier")
    evaluation = evaluate(Run.from_dict(data["run"]), GoldenSet.from_dict(data["qrels"]))
    for level, rows in data["values"].items():
        assert len(rows) == 12
        for measure, name in PYTREC_EVAL.items():
            head, at, number = name.partition("@")
            is_binary = head not in ("nDCG", "NumRet")
            ours = f"{head}(rel={level}){at}{number}" if level != "1" and is_binary else name
            theirs = {query_id: row[measure] for query_id, row in rows.items()}
            values = evaluation.per_query(ours).to_dict()
            assert values == pytest.approx(theirs, abs=1e-9), ours


def test_ir_measures_agrees_on_the_mean() -> None:
    data = recorded("ir-measures")
    evaluation = evaluate(Run.from_dict(data["run"]), GoldenSet.from_dict(data["qrels"]))
    means = {name: evaluation.mean(name) for name in IR_MEASURES}
    assert means == pytest.approx(data["values"], abs=1e-9)


def test_statsmodels_corrects_and_plans_alike() -> None:
    data = recorded("statsmodels")
    for p_values, corrected in data["holm"]:
        assert holm(p_values) == pytest.approx(corrected)
    for effect, power, alpha, size in data["queries_needed"]:
        assert queries_needed(effect, 1.0, power, alpha) == max(2, math.ceil(size - 1e-6))


def test_the_rbo_package_agrees() -> None:
    for one, two, p, theirs in recorded("rbo"):
        assert rbo(one, two, p=p) == pytest.approx(theirs, abs=1e-9), (one, two, p)


def test_every_recorded_measure_is_one_of_our_metrics() -> None:
    for name in IR_MEASURES:
        assert not str(Metric.parse(name)).startswith("ir_measures:")


def rounded(value: Any) -> Any:
    """Return a value without the digits that differ between platforms."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.oracle
@pytest.mark.parametrize("peer", PEERS)
def test_the_recorded_values_are_those_the_peer_computes_now(peer: str) -> None:
    module = peer.removesuffix("-terrier").replace("-", "_")
    pytest.importorskip(module, reason=f"{peer} is not installed")
    assert rounded(computed(peer)) == rounded(recorded(peer))
