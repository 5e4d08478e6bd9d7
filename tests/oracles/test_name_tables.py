"""The tables of other tools' names in the manual: complete, true, and written from the record."""

import json
import math
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from manual_tables import DOCS, check_table
from name_rows import COUNT_ALL_QUERIES, ROWS, Row
from other_tools import (
    BINARY,
    FILE,
    QRELS,
    RANKINGS,
    RUN,
    TOOLS,
    computed,
    installed_version,
    ir_measure,
)

from pytest_rankcheck import Evaluation, GoldenSet, Metric, MetricError, Run, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::pytest_rankcheck.errors.MetricWarning")

RECORD = json.loads(FILE.read_text("utf-8"))
PAIRS = [(tool, row) for tool, rows in ROWS.items() for row in rows]
IDS = [f"{tool}-{row.name}" for tool, row in PAIRS]
PRECISION = {"trec_eval": 5.1e-5, "BEIR": 5.1e-6, "MTEB": 5.1e-6}
"""Half of the last digit that the tool prints."""

IR_MEASURES_ALIASES = {
    "MAP@3": "AP@3",
    "BPref": "Bpref",
    "NDCG@3": "nDCG@3",
    "Precision@3": "P@3",
    "Recall@3": "R@3",
    "RPrec": "Rprec",
    "MRR": "RR",
    "MAP_IA": "AP_IA",
    "α_DCG@3": "alpha_DCG@3",
    "α_nDCG@3": "alpha_nDCG@3",
}
"""Names whose number is recorded under another name."""

_COMPUTED_THERE = "ir_measures:"


PRESETS = ("LightGBM", "XGBoost", "CatBoost")


@cache
def evaluated(
    binary: bool, listed: bool, all_queries: bool, top: int | None, preset: Any = None
) -> Evaluation:
    qrels = BINARY if binary else QRELS
    golden = {
        query_id: {
            doc_id: grade
            for doc_id, grade in grades.items()
            if not listed or doc_id in RANKINGS.get(query_id, ())
        }
        for query_id, grades in qrels.items()
        if all_queries or query_id in RANKINGS
    }
    run = Run.from_dict(RUN, ties="input" if preset else "doc_id")
    cut = run if top is None else run.top(top)
    return evaluate(cut, GoldenSet.from_dict(golden), conventions=preset)


def our_number(tool: str, row: Row) -> float:
    all_queries = tool in COUNT_ALL_QUERIES if row.all_queries is None else row.all_queries
    preset = tool.lower() if tool in PRESETS else None
    return evaluated(row.binary, row.listed, all_queries, row.top, preset).mean(row.ours)


def their_number(tool: str, row: Row) -> float | None:
    name = IR_MEASURES_ALIASES.get(row.name, row.name) if tool == "ir_measures" else row.name
    value = RECORD[tool]["values"].get(name)
    return None if value is None else float(value)


@pytest.mark.parametrize(("tool", "row"), PAIRS, ids=IDS)
def test_the_number_here_is_the_recorded_one_or_the_table_says_why_not(tool: str, row: Row) -> None:
    theirs = their_number(tool, row)
    if not row.ours or theirs is None or row.ours.startswith(_COMPUTED_THERE):
        assert row.note
        return
    ours = our_number(tool, row)
    tolerance = PRECISION.get(tool, 1e-6)
    assert (abs(ours - theirs) > tolerance) == row.differs, (ours, theirs)
    assert row.note or not row.differs


@pytest.mark.parametrize(("tool", "row"), PAIRS, ids=IDS)
def test_a_name_is_read_as_the_table_says_or_refused(tool: str, row: Row) -> None:
    try:
        read = Metric.parse(row.name)
    except MetricError:
        assert not row.read_as
        return
    assert read == Metric.parse(row.read_as or row.ours)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_recorded_number_is_in_the_table(tool: str) -> None:
    assert set(RECORD[tool]["values"]) <= {row.name for row in ROWS[tool]}


def test_every_tool_has_a_table() -> None:
    assert list(ROWS) == list(TOOLS) == list(RECORD)


def number_text(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}".rstrip("0").rstrip(".")


def cell(text: str) -> str:
    return f"`{text}`" if text else "-"


def table_of(tool: str) -> str:
    """Return the manual's table of a tool's names, with both numbers where they differ."""
    lines = [f"| {tool} {RECORD[tool]['version']} | here | what differs |", "|---|---|---|"]
    there = []
    for row in ROWS[tool]:
        if row.ours == f"{_COMPUTED_THERE}{row.name}" and not row.differs:
            there.append(f"`{row.name.partition('(')[0].partition('@')[0]}`")
            continue
        theirs = their_number(tool, row)
        numbers = ""
        if row.differs and not row.ours.startswith(_COMPUTED_THERE):
            numbers = f"{number_text(our_number(tool, row))}, not {number_text(theirs)}"
        reading = f"the name alone is `{row.read_as}` here" if row.read_as else ""
        notes = "; ".join(filter(None, (numbers, row.note, reading)))
        lines.append(f"| `{row.name}` | {cell(row.ours)} | {notes} |")
    if there:
        lines += ["", f"{tool} computes {', '.join(dict.fromkeys(there))} under their own names."]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("tool", TOOLS)
def test_the_tables_of_the_manual_are_those_of_the_record(tool: str) -> None:
    """Set RANKCHECK_WRITE_DOCS=1 to write them."""
    check_table("reference/metric-names.md", f"names in {tool}", table_of(tool))


def test_the_example_on_the_page_is_the_recorded_one() -> None:
    text = (DOCS / "reference" / "metric-names.md").read_text("utf-8")
    example: dict[str, Any] = {}
    exec(text.split("```python\n")[1].split("```")[0], example)
    golden, run = example["golden"], example["run"]
    assert {query_id: golden.grades(query_id) for query_id in golden.query_ids} == QRELS
    assert {query_id: list(run[query_id]) for query_id in run} == RANKINGS


# --- against the tools themselves ---------------------------------------------------------------


IN_THE_EXTRA = ("ir_measures", "ranx", "scikit-learn", *PRESETS)
"""The tools of the extra ``oracles``; the others do not all fit into one environment."""


def skip_if_missing(tool: str) -> None:
    if installed_version(tool) is None:
        where = "not installed" if tool in IN_THE_EXTRA else "not in this environment"
        pytest.skip(f"{tool} is {where}")


def skip_without_providers() -> None:
    """Skip a test of ir_measures without the libraries that compute some of its measures."""
    for module, name in (("cwl", "cwl-eval"), ("pyndeval", "pyndeval")):
        pytest.importorskip(module, reason=f"{name} is not installed")


@pytest.mark.oracle
@pytest.mark.parametrize("tool", TOOLS)
def test_the_recorded_numbers_are_those_that_the_tool_computes_now(tool: str) -> None:
    skip_if_missing(tool)
    if tool == "ir_measures":
        skip_without_providers()
    now, then = computed(tool), RECORD[tool]["values"]
    assert now == pytest.approx(then, abs=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("row", ROWS["ir_measures"], ids=lambda row: row.name)
def test_an_ir_measures_object_gives_its_own_number(row: Row) -> None:
    pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    theirs = their_number("ir_measures", row)
    if row.ours.startswith(_COMPUTED_THERE):
        skip_without_providers()
    measure: Any = ir_measure(row.name)
    Metric.parse(measure)
    if theirs is not None and measure.NAME != "Accuracy":  # see the table
        names = [measure, row.ours] if row.ours.startswith(_COMPUTED_THERE) else [measure]
        for name in names:
            ours = evaluated(False, False, True, None).mean(name)
            assert math.isclose(ours, theirs, abs_tol=1e-6), name


def public_names(tool: str) -> set[str]:
    """Return the names of metrics that an installed tool lists itself."""
    match tool:
        case "ir_measures":
            return set(import_module("ir_measures.measures").registry)
        case "RecTools":
            tools = ("calc_metrics", "debias_interactions", "DebiasConfig")
            return {
                name
                for name in import_module("rectools.metrics").__all__
                if name not in tools and not name.endswith("Calculator")
            }
        case "torchmetrics":
            return set(import_module("torchmetrics.retrieval").__all__)
        case "LlamaIndex":
            module = import_module("llama_index.core.evaluation.retrieval.metrics")
            return set(module.METRIC_REGISTRY)
    return set()


@pytest.mark.oracle
@pytest.mark.parametrize("tool", TOOLS)
def test_every_metric_that_a_tool_lists_is_in_the_table(tool: str) -> None:
    skip_if_missing(tool)
    stems = {row.name.partition("(")[0].partition("@")[0].strip() for row in ROWS[tool]}
    assert public_names(tool) <= stems
