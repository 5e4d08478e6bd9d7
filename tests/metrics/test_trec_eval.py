"""Equality with trec_eval on its own test data, to the four decimals that it prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from reference import data, printed, unpacked

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate

HALF_A_DIGIT = 0.00005 + 1e-9

NAMES = {
    "map": "AP",
    "map_cut": "AP",
    "recip_rank": "RR",
    "P": "P",
    "recall": "R",
    "success": "Success",
    "ndcg": "nDCG",
    "ndcg_cut": "nDCG",
}


@dataclass(frozen=True)
class Case:
    """A command line of trec_eval and what it means here."""

    output: str
    qrels: str
    results: str
    compared: int
    """How many printed numbers are ours to reproduce."""
    depth: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    missing_dropped: bool = False
    """Without ``-c`` a judged query that the run lacks is not in trec_eval's mean."""

    @property
    def id(self) -> str:
        return f"{Path(self.output).name}-{Path(self.qrels).name}"


# 42 measures of -m all_trec are ours: map, recip_rank, ndcg, nine P, nine recall, three success,
# nine map_cut and nine ndcg_cut. -m official has eleven: map, recip_rank, nine P.
ALL_TREC = 3 + 9 + 9 + 3 + 9 + 9
OFFICIAL = 2 + 9
T, L, C, S = "trec_eval/", "lightgbm-lambdarank/", "cranfield/", "trec-session-2013/"
LEVEL_2 = dict.fromkeys(("AP", "RR", "P", "R", "Success"), "rel=2")
JUDGED = dict.fromkeys((*LEVEL_2, "nDCG"), "judged_only=true")

CASES = [
    Case(T + "out.test", T + "qrels.test", T + "results.test", OFFICIAL),
    Case(T + "out.test", T + "qrels.test.with-comments", T + "results.test", OFFICIAL),
    Case(T + "out.test.a", T + "qrels.test", T + "results.test", ALL_TREC),
    Case(T + "out.test.aq", T + "qrels.test", T + "results.test", 4 * ALL_TREC),
    Case(T + "out.test.aqc", T + "qrels.test", T + "results.trunc", 4 * ALL_TREC),
    Case(T + "out.test.aqcM", T + "qrels.test", T + "results.trunc", 4 * ALL_TREC, depth=100),
    Case(
        T + "out.test.aql",
        T + "qrels.rel_level",
        T + "results.test",
        4 * ALL_TREC,
        parameters=LEVEL_2,
    ),
    Case(
        T + "extra/rel_level.J.q.txt",
        T + "qrels.rel_level",
        T + "results.test",
        4 * ALL_TREC,
        parameters=JUDGED,
    ),
    Case(T + "extra/rel_level.graded.q.txt", T + "qrels.rel_level", T + "results.test", 4 * 10),
    Case(
        T + "out.comment.test",
        T + "qrels.comment.test",
        T + "results.comment.test.gz",
        OFFICIAL,
    ),
    Case(L + "out.trec_eval.q.txt", L + "rank.test.qrels", L + "rank.test.lgbm.run", 51 * ALL_TREC),
    Case(C + "out.bm25s.q.txt.gz", C + "cran.qrels", C + "bm25s.run", 226 * ALL_TREC),
    Case(
        S + "out.clicks.q.txt.gz",
        S + "clicks.qrels",
        S + "shown.run",
        250 * ALL_TREC,
        missing_dropped=True,
    ),
    Case(
        S + "out.graded.q.txt.gz",
        S + "graded.qrels.gz",
        S + "shown.run",
        383 * ALL_TREC,
        missing_dropped=True,
    ),
]


def metric_name(measure: str, parameters: Mapping[str, str]) -> str | None:
    """Return our name of a measure that trec_eval printed; None if we do not have it."""
    family, cutoff = re.fullmatch(r"(.*?)(?:_(\d+))?", measure).groups()
    name = NAMES.get(family)
    if name is None or (cutoff is None) != (family in {"map", "recip_rank", "ndcg"}):
        return None
    brackets = f"({parameters[name]})" if name in parameters else ""
    return f"{name}{brackets}" + (f"@{cutoff}" if cutoff else "")


def value_of(evaluation: Evaluation, name: str, query_id: str, missing_dropped: bool) -> float:
    if query_id != "all":
        return evaluation.per_query(name)[query_id]
    if missing_dropped:
        return evaluation.per_query(name).drop(list(evaluation.missing)).mean()
    return evaluation.mean(name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_are_those_of_trec_eval(case: Case, tmp_path: Path) -> None:
    golden = GoldenSet.load(unpacked(case.qrels, tmp_path), format="trec")
    run = Run.load(unpacked(case.results, tmp_path), format="trec")
    evaluation = evaluate(run if case.depth is None else run.top(case.depth), golden)
    compared, wrong = 0, []
    for measure, query_id, text in printed(unpacked(case.output, tmp_path)):
        name = metric_name(measure, case.parameters)
        if name is None:
            continue
        compared += 1
        value = value_of(evaluation, name, query_id, case.missing_dropped)
        if abs(value - float(text)) > HALF_A_DIGIT:
            wrong.append(f"{name} of {query_id}: {value:.6f}, trec_eval {text}")
    assert not wrong
    assert compared == case.compared


def test_values_are_those_of_trec_eval_with_measure_parameters() -> None:
    golden = GoldenSet.load(data(T + "qrels.test"))
    evaluation = evaluate(Run.load(data(T + "results.test")), golden)
    # trec_eval lets a grade that its gain mapping lacks keep its value; only 0 and 1 occur here.
    names = {
        **{f"P_{k}": f"P@{k}" for k in (3, 5, 7)},
        **{f"recall_{k}": f"R@{k}" for k in (20, 2000)},
        **{f"success_{k}": f"Success@{k}" for k in (2, 5, 20)},
        # COMMANDS.tsv asks for "20,23.4": trec_eval reads the cutoff 23
        **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in (10, 20, 23)},
        "ndcg_1=3,2=9,4=4.5": "nDCG(gain={1:3,2:9,4:4.5})",
    }
    compared, wrong = 0, []
    for measure, query_id, text in printed(data(T + "out.test.meas_params")):
        if measure in names:
            compared += 1
            value = value_of(evaluation, names[measure], query_id, missing_dropped=False)
            if abs(value - float(text)) > HALF_A_DIGIT:
                wrong.append(f"{names[measure]} of {query_id}: {value:.6f}, trec_eval {text}")
    assert not wrong
    assert compared == 4 * len(names)


def test_the_qrels_with_comments_are_those_without_but_for_the_commented_document() -> None:
    """One document of the file with comments is another (``CR#93E-1860``): # is not at the start."""
    plain = GoldenSet.load(data(T + "qrels.test")).grades("301")
    commented = GoldenSet.load(data(T + "qrels.test.with-comments")).grades("301")
    assert set(plain) ^ set(commented) == {"CR93E-1860", "CR#93E-1860"}
