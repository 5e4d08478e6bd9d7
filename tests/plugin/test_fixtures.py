"""The five fixtures: overriding them, their scope, and failing rankers."""

import re

from project import Project, text_of

OWN_SET = """
import pytest
from pytest_rankcheck import GoldenSet

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.from_dict({{"{name}": {{"doc of {name}": 1}}}}, queries={{"{name}": "{name}"}})

@pytest.fixture(scope="session")
def of_my_own(evaluation):
    return evaluation.query_ids

def test_it(evaluation, of_my_own):
    assert evaluation.query_ids == ("{name}",)
    assert of_my_own == ("{name}",)
    assert evaluation.mean("RR") == 1.0
"""


def test_modules_with_their_own_golden_sets_have_their_own_evaluations(project: Project) -> None:
    for name in ("first", "second"):
        project.test(OWN_SET.format(name=name), f"tests/test_{name}.py")
    project.test("def test_it(evaluation):\n    assert len(evaluation.query_ids) == 80\n")
    modules = [f"tests/test_{name}.py" for name in ("first", "second", "ranking")]
    project.run(*modules).assert_outcomes(passed=3)


def test_a_ranker_that_raises_names_the_query_and_keeps_its_traceback(project: Project) -> None:
    project.write(
        "engine.py",
        "def search(text):\n"
        "    return lookup(text)\n"
        "def lookup(text):\n"
        "    if text in ('query 3', 'query 7'):\n"
        "        raise LookupError('no such term')\n"
        "    return []\n",
    )
    project.test("def test_it(evaluation):\n    pass\n")
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*return lookup(text)*",
            "*LookupError: no such term",
            "*the ranker failed on 2 of 80 queries, first on 'q003' \"query 3\": LookupError: no*",
            "*also failed: q007",
        ]
    )
    assert "pytest_rankcheck/rankers" not in text_of(result), "our own frames show"


GOOD = "return [f'doc of {text}']"
BUG = "__name__ = 'pytest_rankcheck.x'\ndef our(key):\n    assert key, key\n    return {}[key]\n"


def test_tracebacks_have_no_frame_of_ours_unless_it_is_our_bug(project: Project) -> None:
    for ranker, test, error, is_bug in (
        ("raise ValueError('index is gone')", "evaluation", "ValueError: index is gone", False),
        ("return 3", "evaluation", "RankerError: ", False),
        (GOOD, "evaluation.mean('nDCG@200')", "MetricError: ", False),
        (GOOD, "__import__('pytest_rankcheck').assert_at_least(evaluation, 'RR', 2)", "Err", False),
        (GOOD, "__import__('bug').our('key')", "KeyError: 'key'", True),
        (GOOD, "__import__('bug').our('')", "AssertionError", True),
    ):
        project.write("engine.py", f"def search(text):\n    {ranker}\n")
        project.write("bug.py", BUG)
        project.test(f"def test_it(evaluation):\n    {test}\n")
        for style in ("auto", "short"):
            text = text_of(project.run(f"--tb={style}"))
            assert error in text
            assert is_bug or not re.search(r"pytest_rankcheck[/\\]\w+|functools", text)
            assert ("bug.py" in text) == is_bug


def test_a_unittest_has_no_frame_of_ours_either(project: Project) -> None:
    project.test(
        """
import unittest
from pytest_rankcheck import GoldenSet, Run, assert_mrr_at_least, evaluate

class Ranking(unittest.TestCase):
    def test_floor(self):
        golden = GoldenSet.from_dict({"q": {"d": 1}})
        assert_mrr_at_least(evaluate(Run.from_dict({"q": ["x", "d"]}), golden), 0.9)
"""
    )
    text = text_of(project.run())
    assert "AssertionError: RR is 0.5000" in text
    assert not re.search(r"pytest_rankcheck[/\\]\w+|functools", text)
