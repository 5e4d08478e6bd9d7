"""Equality with trec_eval on its own test data, to the four decimals that it prints."""

import re
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pytest
from reference import data, printed, unpacked

from pytest_rankcheck import Evaluation, GoldenSet, Metric, Run, evaluate

HALF_A_DIGIT = 0.00005 + 1e-9

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


T, L, C, S = "trec_eval/", "lightgbm-lambdarank/", "cranfield/", "trec-session-2013/"


@dataclass(frozen=True)
class Case:
    """A command line of trec_eval and what it means here."""

    output: str
    qrels: str
    results: str
    compared: int
    """How many printed numbers are ours to reproduce."""
    parameter: str = ""
    depth: int | None = None
    is_all: bool = True
    """Without ``-c`` a judged query that the run lacks is not in trec_eval's mean."""

    @property
    def id(self) -> str:
        return f"{Path(self.output).name}-{Path(self.qrels).name}"


GRADED = {"nDCG", "Unjudged", "TotalRet"}
"""What the relevance level of trec_eval's -l leaves alone."""

CASES = [
    Case(T + "out.test", T + "qrels.test", T + "results.test", 28),
    Case(T + "out.test", T + "qrels.test.with-comments", T + "results.test", 28),
    Case(T + "out.test.a", T + "qrels.test", T + "results.test", 67),
    Case(T + "out.test.aq", T + "qrels.test", T + "results.test", 265),
    Case(T + "out.test.aqc", T + "qrels.test", T + "results.trunc", 265),
    Case(T + "out.test.aqcM", T + "qrels.test", T + "results.trunc", 265, depth=100),
    Case(T + "out.test.aql", T + "qrels.rel_level", T + "results.test", 265, "rel=2"),
    Case(
        *(T + "extra/rel_level.J.q.txt", T + "qrels.rel_level", T + "results.test", 265),
        "judged_only=true",
    ),
    Case(T + "extra/rel_level.graded.q.txt", T + "qrels.rel_level", T + "results.test", 52),
    Case(T + "out.comment.test", T + "qrels.comment.test", T + "results.comment.test.gz", 28),
    Case(L + "out.trec_eval.q.txt", L + "rank.test.qrels", L + "rank.test.lgbm.run", 2601),
    Case(C + "out.bm25s.q.txt.gz", C + "cran.qrels", C + "bm25s.run", 11526),
    Case(S + "out.clicks.q.txt.gz", S + "clicks.qrels", S + "shown.run", 12750, is_all=False),
    Case(S + "out.graded.q.txt.gz", S + "graded.qrels.gz", S + "shown.run", 19533, is_all=False),
]


def our_metrics(measure: str, parameter: str) -> list[Metric]:
    """Return the metrics whose mean is what trec_eval printed; none if it is not compared."""
    if measure == "11pt_avg":
        levels = [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
        return [each for level in levels for each in our_metrics(level, parameter)]
    if re.sub(r"_\d+(\.\d+)?$", "", measure) in OTHERS:
        return []
    metric = Metric.parse(measure)
    if not parameter or (metric.name in GRADED and parameter == "rel=2"):
        return [metric]
    name, at, number = str(metric).partition("@")
    given = f"{name[:-1]}," if name.endswith(")") else f"{name}("
    return [Metric.parse(f"{given}{parameter}){at}{number}")]


def values_of(evaluation: Evaluation, metric: Metric, is_all: bool) -> dict[str, float]:
    """Return what is measured by the names of trec_eval: an id, or "all" for the mean."""
    each = evaluation.per_query(metric)
    kept = each if is_all else each.drop(list(evaluation.missing))
    mean = evaluation.mean(metric) if is_all else metric.mean(kept.to_numpy())
    return {**each.to_dict(), "all": mean}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_values_are_those_of_trec_eval(case: Case, tmp_path: Path) -> None:
    golden = GoldenSet.load(unpacked(case.qrels, tmp_path), format="trec")
    run = Run.load(unpacked(case.results, tmp_path), format="trec")
    if case.depth is not None:  # trec_eval -M cuts the rankings and measures P@200 all the same
        run = Run.from_dict({query_id: run[query_id][: case.depth] for query_id in run})
    measured = partial(values_of, evaluate(run, golden), is_all=case.is_all)
    ours = cache(lambda measure: [*map(measured, our_metrics(measure, case.parameter))])
    compared, wrong = 0, []
    for measure, query_id, text in printed(unpacked(case.output, tmp_path)):
        values = [each[query_id] for each in ours(measure)]
        if not values:
            continue
        value = sum(values) / len(values)
        compared += 1
        if abs(value - float(text)) > HALF_A_DIGIT:
            wrong.append(f"{measure} of {query_id}: {value:.6f}, trec_eval {text}")
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
            value = values_of(evaluation, Metric.parse(names[measure]), is_all=True)[query_id]
            if abs(value - float(text)) > HALF_A_DIGIT:
                wrong.append(f"{names[measure]} of {query_id}: {value:.6f}, trec_eval {text}")
    assert not wrong
    assert compared == 4 * len(names)
