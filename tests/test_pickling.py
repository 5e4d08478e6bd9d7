"""What is sent to other processes and machines, and back, pickles: every public class."""

from __future__ import annotations

import inspect
import json
import pickle
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

import pytest_rankcheck
from pytest_rankcheck import (
    Approval,
    ChangedDocument,
    Conventions,
    Evaluation,
    Evidence,
    Expectation,
    Fragility,
    Gate,
    GoldenSet,
    GroupEvidence,
    Metric,
    MetricError,
    MixEffect,
    MostlyTied,
    OtherRuling,
    Outcome,
    Parameter,
    PerturbedQuery,
    Query,
    QueryDrop,
    Record,
    RecordedMetric,
    RecordedQuery,
    ReplayEvidence,
    Resolutions,
    RulingUnder,
    Run,
    SessionLog,
    SetAside,
    SinceApproval,
    TieEffect,
    TooFewChanges,
    TooWideAllowance,
    check_metric,
    compare,
    evaluate,
    evaluate_part,
    evaluate_sessions,
    metric,
    perturbations,
    rankers,
)
from pytest_rankcheck.metrics.judged_hits import JudgedHits
from pytest_rankcheck.metrics.metric_parameters import number
from pytest_rankcheck.metrics.metric_registry import definitions
from pytest_rankcheck.rankers import AdapterReport, AdapterRule, QueryAnswer, RankingTask

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


def events(group: str, count: int = 40) -> list[dict[str, object]]:
    return [
        {
            "session": f"{group}{number}",
            "event": 1,
            "query": "shoes",
            "results": ["a", "b", "c"] if group == "A" else ["b", "a", "c"],
            "selected_rank": 1 + number % 3 if number % 4 else None,
            "group": group,
        }
        for number in range(count)
    ]


@cache
def instances() -> Mapping[str, object]:
    """Return an object of each public class that is no error, by the name of the class."""
    golden = golden_set()
    evaluation, other = evaluate(run_of(0), golden), evaluate(run_of(1), golden)
    comparison = compare(evaluation, other)
    ndcg = Metric("nDCG@5")
    paired = comparison.values(ndcg)
    log = SessionLog.from_records([*events("A"), *events("B")], first_rank=1)
    sessions = evaluate_sessions(log)
    unpaired = compare(
        sessions, evaluate_sessions(SessionLog.from_records(events("C"), first_rank=1))
    )
    gate = Gate.tolerance(abs=0.0)
    verdict = gate.decide(comparison, ndcg, by="locale")
    part = evaluate_part(run_of(0), golden)
    resolutions = Resolutions.of(evaluation, ["nDCG@5", "RR"])
    record = Record.of(evaluation, [ndcg])
    hits = evaluation.hits[0]
    answered: Any = {"query": Query("q", "x"), "before": ["a"], "after": ["b"], "rbo": 0.5}
    found: dict[str, object] = {
        "Adapter": rankers.batch(json.dumps),
        "AdapterReport": AdapterReport("engine", [AdapterRule("repeats", "why", True)]),
        "AdapterRule": AdapterRule("repeats", "why", False, "it does not"),
        "Approval": Approval("why", "2026-11-21", None, None, {}),
        "ComparedValues": paired,
        "Comparison": comparison,
        "Conventions": Conventions(no_relevant="exclude"),
        "Decision": verdict.overall,
        "Differences": paired.differences,
        "EstimatedPropensity": log.estimate_propensity(by="group"),
        "Evaluation": evaluation,
        "EvaluationPart": part,
        "Evidence": Evidence(),
        "Expectation": Expectation.in_top(3, "d1", query="q1"),
        "Fragility": Fragility(("q1",), (("q1",),), False, "passed"),
        "Gap": pytest_rankcheck.Gap(verdict.overall, verdict.overall),
        "Gate": Gate.noninferior(margin=0.02, max_query_drop=0.5),
        "GateRule": gate.rule,
        "GoldenSet": golden,
        "GroupEvidence": GroupEvidence("log", ("A", "B"), (1, 2), "session", 1.0, 0.5, 0, 0),
        "JudgedHits": hits,
        "LabelSensitivity": comparison.label_sensitivity("nDCG@5", 0.1, draws=3),
        "LawReport": check_metric("RR"),
        "LintFinding": golden.lint()[0],
        "MergedEvaluation": Evaluation.merge([part], golden),
        "Metric": ndcg,
        "MixEffect": MixEffect("locale", 0.1, 0.1, 0.0),
        "MostlyTied": MostlyTied(1, 2, "q1", 3, 1),
        "Move": comparison.moved("q1")[0],
        "OtherRuling": OtherRuling("tolerance", "passed"),
        "Outcome": Outcome.BETTER,
        "Paired": paired,
        "Parameter": Parameter("b", 1, number(above=0), "a number above 0", "what it is"),
        "Perturbation": perturbations()["typo"],
        "ChangedDocument": ChangedDocument(
            **answered, doc_id="d1", document="one", changed="two", rank_before=1, rank_after=None
        ),
        "PerturbedQuery": PerturbedQuery(**answered, perturbed=Query("q", "y")),
        "Query": golden.query("q1"),
        "QueryAnswer": QueryAnswer(golden.query("q1"), ["d1"], None, 0.5),
        "QueryDrop": QueryDrop("q1", 1.0, 0.5),
        "RankingTask": RankingTask(golden, 10, retry_on=("OSError",)),
        "Record": record,
        "RecordedMetric": RecordedMetric(True, 0.5),
        "RecordedQuery": RecordedQuery("3fa2", {"nDCG@5": 0.5}, ("d1",)),
        "ReplayEvidence": ReplayEvidence("passed", 10, 0.1, 0.1, 0.1),
        "Resolution": resolutions.resolutions[0],
        "Resolutions": resolutions,
        "RulingUnder": RulingUnder("power(1)", 0.1, 0.2, "passed"),
        "Run": run_of(0),
        "RunEvaluation": evaluation,
        "SessionEvaluation": sessions,
        "SessionLog": log,
        "SessionState": next(log.states()),
        "SetAside": SetAside(1, 1, {"why": 1}, ("where",)),
        "SinceApproval": SinceApproval(40, {"nDCG@5": 40}),
        "TieEffect": TieEffect(1, 0.1, 0.2, False),
        "TooFewChanges": TooFewChanges(1, False, 0.5, 1, 0.05),
        "TooWideAllowance": TooWideAllowance(1.0, 1.0),
        "Unjudged": comparison.unjudged("nDCG@5"),
        "Unpaired": unpaired.values(Metric("SuccessRate")),
        "Verdict": verdict,
    }
    return found


def classes() -> Mapping[str, type]:
    public = {
        name: getattr(module, name)
        for module in (pytest_rankcheck, rankers)
        for name in module.__all__
    }
    return {name: value for name, value in public.items() if inspect.isclass(value)}


def is_error(kind: type) -> bool:
    return issubclass(kind, (Exception, Warning))


def sent(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("name", sorted(set(classes()) - BELONGS_TO_A_TEST))
def test_every_public_class_pickles(name: str) -> None:
    kind = classes()[name]
    value = kind("what is wrong") if is_error(kind) else instances()[name]
    assert isinstance(value, kind)
    arrived = sent(value)
    assert type(arrived) is type(value)
    assert shown(arrived) == shown(value)


def shown(value: object) -> str:
    return re.sub(" at 0x[0-9a-f]+", "", str(value))


def test_what_is_measured_is_the_same_after_the_journey() -> None:
    golden = sent(golden_set())
    assert golden.fingerprint == golden_set().fingerprint
    assert golden.slices("locale") == golden_set().slices("locale")
    before = evaluate(run_of(0), golden_set())
    for after in (sent(before), evaluate(sent(run_of(0)), golden)):
        for name in ("nDCG@5", "ERR@5", "Distinct@5"):
            assert after.values(name).tobytes() == before.values(name).tobytes()


@pytest.mark.parametrize(
    "name",
    [
        *("nDCG@10", "nDCG(gain=exponential)@10", "nDCG(gain={0:0,1:3,2:7})@5", "R@100", "AP"),
        *(
            "RBP(p=0.123456789)",
            "ERR(max_grade=4)@20",
            "SessionRR(abandoned=zero,rel=2)",
            "iPrec@0.1",
            "SuccessRate",
            "Distinct@10",
        ),
    ],
)
def test_a_metric_is_the_same_with_all_its_parameters(name: str) -> None:
    try:
        parsed = Metric(name)
    except MetricError as error:
        pytest.fail(str(error))
    assert sent(parsed) == parsed
    assert hash(sent(parsed)) == hash(parsed)


def test_every_registered_metric_pickles() -> None:
    for entry in definitions().values():
        at = {"cutoff": "@5", "recall": "@0.5", None: ""}[entry.at]
        required = [key for key, each in entry.parameters.items() if each.is_required]
        brackets = "(abandoned=zero)" if required else ""
        parsed = Metric(f"{entry.name}{brackets}{at}")
        assert sent(parsed) == parsed


@pytest.mark.usefixtures("own_metrics")
def test_a_metric_of_ones_own_must_be_registered_where_it_arrives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @metric("Bought")
    def bought(hits: JudgedHits, cutoff: int | None) -> Any:
        """Whether anything was bought."""
        return np.zeros(len(hits.retrieved))

    pickled = pickle.dumps(Metric("Bought@5"))
    assert pickle.loads(pickled) == Metric("Bought@5")
    from pytest_rankcheck.metrics import metric_registry

    monkeypatch.delitem(metric_registry._NAMES, "bought")
    monkeypatch.delitem(metric_registry._DEFINITIONS, "Bought")
    metric_registry._GENERATIONS[0] += 1
    with pytest.raises(MetricError, match="unknown metric 'Bought'"):
        pickle.loads(pickled)


def test_rules_for_ids_pickle_as_far_as_their_functions_do() -> None:
    from pytest_rankcheck.document_ids import DocIdMap

    make: Callable[..., Any] = DocIdMap
    assert sent(make(["lower", "before:#", "nfc"]))("A#1") == "a"
