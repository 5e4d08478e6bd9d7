"""Test sessions that judge chunks by their source, or by the texts that they contain."""

import json
from functools import partial
from pathlib import Path

import pytest
from project import WITHOUT_AND_WITH_WORKERS

CHUNKS = [
    ("c1", "guide", "Press the red button."),
    ("c2", "guide", "The battery lasts ten hours."),
    ("c3", "faq", "It charges in one hour."),
]
CONFTEST = """
import pytest
from types import SimpleNamespace
from pytest_rankcheck import rankers

@pytest.fixture(scope="session")
def ranker():
    chunks = {chunks!r}
    def retrieve(text):
        return [SimpleNamespace(metadata={{"id": id}}, {text}) for id, _, text in chunks]
    return rankers.retriever(retrieve, key="id")
"""
TEST = """
from pytest_rankcheck import assert_at_least, assert_not_regressed

def test_bound(evaluation):
    assert_at_least(evaluation, "{metric}", {bound})

def test_gate(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "{metric}")
"""


def project(
    pytester: pytest.Pytester,
    golden: dict[str, object],
    *options: str,
    text: str = "page_content=text",
    metric: str = "R@3",
    bound: float = 1.0,
) -> None:
    """Write a project whose ranker returns all chunks, in the order in which they stand."""
    ini = ["[tool.pytest.ini_options]", 'rankcheck_golden = "golden.jsonl"', "rankcheck_depth = 3"]
    pytester.makefile(".toml", pyproject="\n".join([*ini, *options]))
    pytester.makeconftest(CONFTEST.format(chunks=CHUNKS, text=text))
    pytester.makepyfile(test_it=TEST.format(metric=metric, bound=bound))
    Path("golden.jsonl").write_text(json.dumps({"query_id": "q1", "query": "?", **golden}))
    rows = "".join(f"{doc_id},{source},{text}\n" for doc_id, source, text in CHUNKS)
    Path("chunks.csv").write_text(f"doc_id,source,text\n{rows}")


DOCUMENTS = 'rankcheck_documents = "chunks.csv"'
BY_SOURCE = (
    DOCUMENTS,
    'rankcheck_doc_id = "attribute:source"',
    'rankcheck_conventions = ["duplicates=keep_places"]',
)


@pytest.mark.parametrize("rank", [2, 3])
def test_the_option_maps_the_answers_to_their_source(pytester: pytest.Pytester, rank: int) -> None:
    metric, bound = f"R@{rank}", float(rank == 3)  # faq is the third chunk
    project(pytester, {"relevance": {"faq": 1}}, *BY_SOURCE, metric=metric, bound=bound)
    pytester.runpytest("--snapshot-update").assert_outcomes(passed=2)
    result = pytester.runpytest("-v", "--rankcheck-save-run=runs")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines([f"*R@{rank}*{bound:.4f}*"])
    Path("conftest.py").unlink()
    pytester.runpytest("--rankcheck-run=runs/golden.run").assert_outcomes(passed=2)


EXPECTED = {"expected_text": ["the battery lasts ten hours", "charges in one hour"]}


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_expected_texts_are_gated_and_recorded(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    project(pytester, EXPECTED, metric="nDCG@3", bound=0.9)
    run = partial(pytester.runpytest_subprocess if workers else pytester.runpytest, *workers)
    result = run("--snapshot-update")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['*"the battery lasts ten hours" in c2 (grade 1) at 2*'])
    (record,) = Path("baselines").rglob("test_gate*.json")
    found = ["c1", *(f"expected text: {text}" for text in EXPECTED["expected_text"])]
    assert json.dumps(found)[1:-1] in record.read_text()
    before = record.read_bytes()
    run("--snapshot-update", "--deselect=test_it.py::test_bound").assert_outcomes(passed=1)
    assert record.read_bytes() == before

    conftest = Path("conftest.py").read_text()
    Path("conftest.py").write_text(conftest.replace("in chunks]", "in reversed(chunks[:2])]"))
    result = run("--deselect=test_it.py::test_bound")
    result.stdout.fnmatch_lines(['*"charges in one hour" (grade 1)  3 -> not ranked*'])


def test_a_saved_run_needs_the_documents(pytester: pytest.Pytester) -> None:
    project(pytester, EXPECTED, bound=1.0)
    pytester.runpytest("--rankcheck-save-run=runs", "-k", "bound").assert_outcomes(passed=1)
    assert "c2" in Path("runs/golden.run").read_text()
    replay = ("--rankcheck-run=runs/golden.run", "-k", "bound")
    text = pytester.runpytest(*replay).stdout.str()
    assert "expects texts, but those of run 'golden.run' are unknown" in text
    project(pytester, EXPECTED, DOCUMENTS, bound=1.0)
    pytester.runpytest(*replay).assert_outcomes(passed=1)
