"""What is sent to other processes and machines, and back, pickles."""

import dataclasses
import inspect
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    Conventions,
    Expectation,
    Gate,
    GoldenSet,
    Metric,
    MetricError,
    Query,
    Record,
    Run,
    SessionLog,
    check_metric,
    compare,
    evaluate,
    evaluate_part,
    evaluate_sessions,
    metric,
    rankers,
)
from pytest_rankcheck.document_ids import DocIdMap
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.rankers import QueryAnswer, RankingTask

BELONGS_TO_A_TEST = {"Baseline"}
"""A baseline is that of one test of this process; its record pickles."""


def golden_set() -> GoldenSet:
    queries = {f"q{q}": {f"d{d}": (d + q) % 4 for d in range(6)} for q in range(40)}
    attributes = {query: {"locale": "de" if int(query[1:]) % 2 else "en"} for query in queries}
    texts = dict.fromkeys(queries, "red shoes")
    return GoldenSet.from_dict(queries, texts, attributes=attributes, scale=5)


def run_of(shift: int) -> Run:
    return Run.from_dict(
        {f"q{q}": {f"d{(d + shift + q) % 9}": 9.0 - d for d in range(9)} for q in range(40)}
    )


def log_of(group: str) -> SessionLog:
    rows = [
        {
            "session": f"{group}{number}",
            "event": 1,
            "query": "shoes",
            "results": ["a", "b", "c"],
            "selected_rank": 1 + number % 3 if number % 4 else None,
        }
        for number in range(40)
    ]
    return SessionLog.from_records(rows, first_rank=1)


def instances() -> Iterator[object]:
    """Yield objects that are sent, or made from what was sent."""
    golden, log = golden_set(), log_of("A")
    evaluation, sessions = evaluate(run_of(0), golden), evaluate_sessions(log)
    comparison = compare(evaluation, evaluate(run_of(1), golden))
    unpaired = compare(sessions, evaluate_sessions(log_of("B")))
    gate, ndcg = Gate.tolerance(abs=0.0), Metric.parse("nDCG@5")
    verdict = gate.decide(comparison, ndcg, by="locale")
    yield from (golden, golden.query("q1"), golden.lint()[0], run_of(0), evaluation, comparison)
    yield from (evaluation.source.hits[0], comparison.values(ndcg), comparison.moved("q1")[0])
    yield from (comparison.unjudged("nDCG@5"), verdict, verdict.overall, gate, gate.rule)
    yield from (log, sessions, next(log.states()), unpaired.values(Metric.parse("SuccessRate")))
    yield from (evaluate_part(run_of(0), golden), Record.of(evaluation, [ndcg]))
    yield from (ndcg, check_metric("RR"), Conventions(no_relevant="exclude"))
    yield Expectation.in_top(3, "d1", query="q1")
    yield from (rankers.batch(json.dumps), RankingTask(golden, 10, retry_on=("OSError",)))
    yield from (QueryAnswer(Query("q", "x"), ["d1"], None, 0.5), DocIdMap(["lower", "nfc"]))


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def shown(value: object) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", str(value))


def test_every_public_class_pickles() -> None:
    """One that is not among the instances is a dataclass, which pickles as its fields do."""
    tried = set[type]()
    for value in instances():
        arrived = sent(value)
        assert type(arrived) is type(value)
        assert shown(arrived) == shown(value)
        tried.update(type(value).__mro__)
    for module in (pytest_rankcheck, rankers):
        for name in {*module.__all__} - BELONGS_TO_A_TEST:
            kind = getattr(module, name)
            if not inspect.isclass(kind) or kind in tried:
                continue
            if issubclass(kind, (Exception, Warning)):
                assert shown(sent(kind("what is wrong"))) == "what is wrong", name
            else:
                assert dataclasses.is_dataclass(kind) or issubclass(kind, (tuple, str)), name


def test_what_is_measured_is_the_same_after_the_journey() -> None:
    golden = sent(golden_set())
    assert golden.fingerprint == golden_set().fingerprint
    assert golden.slices("locale") == golden_set().slices("locale")
    before = evaluate(run_of(0), golden_set())
    for after in (sent(before), evaluate(sent(run_of(0)), golden)):
        for name in ("nDCG@5", "ERR@5", "Distinct@5"):
            assert after.values(name).tobytes() == before.values(name).tobytes()


def test_what_is_known_about_documents_goes_along(tmp_path: Path) -> None:
    frame = pd.DataFrame({"doc_id": ["a", "b"], "brand": ["x", "y"]})
    frame.to_csv(tmp_path / "documents.csv", index=False)
    for documents in (frame, tmp_path / "documents.csv"):
        history = pd.DataFrame({"user": ["q"], "item": ["a"]})
        golden = GoldenSet.from_dict({"q": {"a": 1}}, documents=documents, interactions=history)
        evaluation = evaluate(Run.from_dict({"q": ["a", "b"]}), golden)
        for after in (sent(evaluation), evaluate(evaluation.run, sent(golden))):
            for name in ("CatalogCoverage@1", "SeenItems@2", "ILD(by=brand)@2"):
                assert after.mean(name) == evaluation.mean(name)


"""Values of the parameters without a default."""


@pytest.mark.usefixtures("own_metrics")
def test_a_metric_of_ones_own_is_computed_only_where_it_is_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @metric("Bought")
    def bought(hits: JudgedHits, cutoff: int | None) -> Any:
        """Whether anything was bought."""
        return np.zeros(len(hits.retrieved))

    pickled = pickle.dumps(Metric.parse("Bought@5"))
    assert pickle.loads(pickled) == Metric.parse("Bought@5")
    from pytest_rankcheck.metrics import metric_registry

    monkeypatch.delitem(metric_registry._NAMES, "bought")
    monkeypatch.delitem(metric_registry._DEFINITIONS, "Bought")
    metric_registry._GENERATIONS[0] += 1
    arrived = pickle.loads(pickled)
    assert str(arrived) == "Bought@5"
    with pytest.raises(MetricError, match="the metric is registered in another process only"):
        arrived.definition.compute(None, None)
