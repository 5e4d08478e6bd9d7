"""Equality with trec_eval on its own test data, to the four decimals that it prints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from reference import data, printed, unpacked

from pytest_rankcheck import Evaluation, GoldenSet, Metric, Run, evaluate

HALF_A_DIGIT = 0.00005 + 1e-9

SINGLE = {
    "map": "AP",
    "gm_map": "GMAP",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "recip_rank": "RR",
    "infAP": "infAP",
    "ndcg": "nDCG",
    "set_P": "P",
    "set_recall": "R",
    "set_F": "F",
    "num_ret": "TotalRet",
    "num_rel": "TotalRel",
    "num_rel_ret": "TotalRelRet",
}
"""What trec_eval prints once, by its name there."""

AT = {
    "P": "P",
    "recall": "R",
    "success": "Success",
    "map_cut": "AP",
    "ndcg_cut": "nDCG",
    "iprec_at_recall": "IPrec",
    "unj": "Unjudged",
}
"""What it prints with a number after the name."""

OTHERS = {
    "runid": "text",
    "relstring": "text",
    "num_q": "the number of queries, which is not a metric",
    "num_nonrel_judged_ret": "not in the catalogue",
    "utility": "not in the catalogue",
    "gm_bpref": "the geometric mean is AP's alone in the catalogue",
    "Rprec_mult": "not in the catalogue",
    "relative_P": "not in the catalogue",
    "set_relative_P": "not in the catalogue",
    "set_map": "P times R, not in the catalogue",
    "Rndcg": "no goal of this project",
    "ndcg_rel": "no goal of this project",
    "G": "no goal of this project",
    "binG": "no goal of this project",
    "rbp": "trec_eval 10.0-rc3 is wrong on graded judgments (it reads memory it never wrote)",
    "rbp_resid": "the same",
}
"""What is not compared, and why."""


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


T, L, C, S = "trec_eval/", "lightgbm-lambdarank/", "cranfield/", "trec-session-2013/"
GRADED = {"nDCG", "Unjudged", "TotalRet"}
"""What the relevance level of trec_eval's -l leaves alone."""
LEVEL_2 = dict.fromkeys(({*SINGLE.values(), *AT.values()} - GRADED), "rel=2")
JUDGED = dict.fromkeys((*SINGLE.values(), *AT.values()), "judged_only=true")
ROUNDED = "needed=rounded"
"""trec_eval 10 rounds recall levels to whole documents; ours takes them as they are."""

CASES = [
    Case(T + "out.test", T + "qrels.test", T + "results.test", 28),
    Case(T + "out.test", T + "qrels.test.with-comments", T + "results.test", 28),
    Case(T + "out.test.a", T + "qrels.test", T + "results.test", 67),
    Case(T + "out.test.aq", T + "qrels.test", T + "results.test", 265),
    Case(T + "out.test.aqc", T + "qrels.test", T + "results.trunc", 265),
    Case(T + "out.test.aqcM", T + "qrels.test", T + "results.trunc", 265, depth=100),
    Case(
        T + "out.test.aql",
        T + "qrels.rel_level",
        T + "results.test",
        265,
        parameters=LEVEL_2,
    ),
    Case(
        T + "extra/rel_level.J.q.txt",
        T + "qrels.rel_level",
        T + "results.test",
        265,
        parameters=JUDGED,
    ),
    Case(T + "extra/rel_level.graded.q.txt", T + "qrels.rel_level", T + "results.test", 52),
    Case(
        T + "out.comment.test",
        T + "qrels.comment.test",
        T + "results.comment.test.gz",
        28,
    ),
    Case(L + "out.trec_eval.q.txt", L + "rank.test.qrels", L + "rank.test.lgbm.run", 2601),
    Case(C + "out.bm25s.q.txt.gz", C + "cran.qrels", C + "bm25s.run", 11526),
    Case(
        S + "out.clicks.q.txt.gz",
        S + "clicks.qrels",
        S + "shown.run",
        12750,
        missing_dropped=True,
    ),
    Case(
        S + "out.graded.q.txt.gz",
        S + "graded.qrels.gz",
        S + "shown.run",
        19533,
        missing_dropped=True,
    ),
]


def metric_name(measure: str, parameters: Mapping[str, str]) -> str | None:
    """Return our name of a measure that trec_eval printed; None if it is not compared."""
    if measure in SINGLE:
        name, at = SINGLE[measure], ""
    else:
        found = re.fullmatch(r"(.*?)_(\d+(?:\.\d+)?)", measure)
        stem, number = found.groups() if found else (measure, "")
        if stem not in AT:
            assert stem in OTHERS, f"trec_eval prints {measure}, and no one says what it is to us"
            return None
        name, at = AT[stem], f"@{number}"
    said = [parameters[name]] if name in parameters else []
    said += [ROUNDED] if name == "IPrec" else []
    return name + (f"({','.join(said)})" if said else "") + at


def value_of(evaluation: Evaluation, name: str, query_id: str, missing_dropped: bool) -> float:
    if query_id != "all":
        return evaluation.per_query(name)[query_id]
    if missing_dropped:
        kept = evaluation.per_query(name).drop(list(evaluation.missing))
        return Metric.parse(name).mean(kept.to_numpy())
    return evaluation.mean(name)


def our_value(
    evaluation: Evaluation, measure: str, query_id: str, case: Case
) -> tuple[str, float] | None:
    """Return our name and value of what trec_eval printed; None if it is not compared."""
    if measure == "11pt_avg":
        names = [metric_name(f"iprec_at_recall_{i / 10:.2f}", case.parameters) for i in range(11)]
        values = [value_of(evaluation, str(name), query_id, case.missing_dropped) for name in names]
        return measure, sum(values) / len(values)
    name = metric_name(measure, case.parameters)
    if name is None:
        return None
    value = value_of(evaluation, name, query_id, case.missing_dropped)
    return name, value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_are_those_of_trec_eval(case: Case, tmp_path: Path) -> None:
    golden = GoldenSet.load(unpacked(case.qrels, tmp_path), format="trec")
    run = Run.load(unpacked(case.results, tmp_path), format="trec")
    if case.depth is not None:  # trec_eval -M cuts the rankings and measures P@200 all the same
        run = Run.from_dict({query_id: run[query_id][: case.depth] for query_id in run})
    evaluation = evaluate(run, golden)
    compared, wrong = 0, []
    for measure, query_id, text in printed(unpacked(case.output, tmp_path)):
        ours = our_value(evaluation, measure, query_id, case)
        if ours is None:
            continue
        name, value = ours
        compared += 1
        if abs(value - float(text)) > HALF_A_DIGIT:
            wrong.append(f"{name} of {query_id}: {value:.6f}, trec_eval {text}")
    assert not wrong
    assert compared == case.compared


RESIDUALS = {"rbp", "rbp_resid"}


@pytest.mark.parametrize("case", CASES[2:5], ids=lambda case: case.id)
def test_a_name_in_trec_evals_spelling_gives_its_number(case: Case) -> None:
    """With rbp and rbp_resid, which trec_eval computes correctly on grades of 0 and 1."""
    golden = GoldenSet.load(data(case.qrels), format="trec")
    evaluation = evaluate(Run.load(data(case.results), format="trec"), golden)
    compared, wrong, without_residual = 0, [], {*evaluation.missing, "all"}
    for measure, query_id, text in printed(data(case.output)):
        stem = re.sub(r"_\d+(\.\d+)?$", "", measure)
        if measure == "11pt_avg" or stem in set(OTHERS) - RESIDUALS:
            continue
        if evaluation.missing and measure == "rbp_resid" and query_id in without_residual:
            continue  # trec_eval's residual of an empty ranking is 0 instead of 1
        compared += 1
        value = value_of(evaluation, measure, query_id, case.missing_dropped)
        if abs(value - float(text)) > HALF_A_DIGIT:
            wrong.append(f"{measure} of {query_id}: {value:.6f}, trec_eval {text}")
    assert not wrong
    assert compared > 67


def test_values_are_those_of_trec_eval_with_measure_parameters() -> None:
    golden = GoldenSet.load(data(T + "qrels.test"))
    evaluation = evaluate(Run.load(data(T + "results.test")), golden)
    # trec_eval lets a grade that its gain mapping lacks keep its value; only 0 and 1 occur here.
    names = {
        **{f"P_{k}": f"P@{k}" for k in (3, 5, 7)},
        **{f"recall_{k}": f"R@{k}" for k in (20, 2000)},
        **{f"success_{k}": f"Success@{k}" for k in (2, 5, 20)},
        **{
            f"iprec_at_recall_{r:.2f}": f"IPrec(needed=rounded)@{r}"
            for r in (0.10, 0.20, 0.25, 0.50, 0.75)
        },
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


def test_qrels_with_comments_differ_only_in_the_commented_document() -> None:
    """One document of the file with comments is another (``CR#93E-1860``): # is not at the start."""
    plain = GoldenSet.load(data(T + "qrels.test")).grades("301")
    commented = GoldenSet.load(data(T + "qrels.test.with-comments")).grades("301")
    assert set(plain) ^ set(commented) == {"CR93E-1860", "CR#93E-1860"}
