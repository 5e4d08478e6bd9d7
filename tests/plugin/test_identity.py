"""Which record belongs to a test: that of its own parameters and of its golden set."""

import re
from collections import Counter

import pytest
from project import CONFIGURATION, REGRESSION_TEST, Project, text_of

TWO_SETS = CONFIGURATION.replace(
    'rankcheck_golden = "golden/web.jsonl"',
    'rankcheck_golden = "golden/web.jsonl golden/mobile.jsonl"',
)

PRINT_KEYS = """
from pytest_rankcheck.plugin.item_identity import item_key

def pytest_collection_modifyitems(items):
    for item in items:
        print("KEY", item.name, "->", item_key(item))
"""
KEYS = """
import pytest

own = pytest.mark.parametrize("own", ["a", "b"])
sets = pytest.mark.parametrize("golden_set", ["web", "app"], indirect=True)
hidden = pytest.param("web", id=pytest.HIDDEN_PARAM)

def test_plain(golden_set): pass

@pytest.mark.parametrize("own", [""])
def test_empty(own): pass

@own
def test_own(own): pass

@sets
def test_sets(golden_set): pass

@own
@sets
def test_both(own, golden_set): pass

@sets
@own
def test_turned(own, golden_set): pass

@pytest.mark.parametrize("a, b", [(1, 2), (3, 4)], ids=["x-y", "z"])
@sets
def test_ids(a, b, golden_set): pass

@pytest.mark.parametrize(
    ("golden_set", "low", "f"), [("web", 0.5, print), ("app", 0.4, len)], indirect=["golden_set"]
)
def test_joint(golden_set, low, f): pass

@pytest.mark.parametrize("golden_set", [hidden, "app"], indirect=True)
@own
def test_hidden(own, golden_set): pass

class TestA:
    def test_x(self): pass

    class TestB:
        @pytest.mark.parametrize("a", [1])
        def test_x(self, a): pass

class TestSized:
    @pytest.fixture(params=["web", "app"])
    def golden_set(self, request): return None

    @pytest.fixture(params=[1, 2], ids=["one", "two"])
    def size(self, request): return 1

    def test_x(self, size, golden_set): pass
"""


def test_a_key_has_the_own_parameters(project: Project) -> None:
    project.write("conftest.py", PRINT_KEYS)
    project.test(KEYS)
    result = project.run("--collect-only", "-q", "-s")
    keys = [line.partition(" -> ")[2] for line in result.outlines if line.startswith("KEY ")]
    assert Counter(keys) == {
        **dict.fromkeys(
            ("test_plain", "test_empty[]", "TestA::test_x", "TestA::TestB::test_x[1]"), 1
        ),
        **dict.fromkeys(("test_own[a]", "test_own[b]"), 1),
        **dict.fromkeys(("test_joint[0.5-print]", "test_joint[0.4-len]"), 1),
        "test_sets": 2,
        **dict.fromkeys(("test_both[a]", "test_both[b]", "test_turned[a]", "test_turned[b]"), 2),
        **dict.fromkeys(("test_ids[x-y]", "test_ids[z]", "test_hidden[a]", "test_hidden[b]"), 2),
        **dict.fromkeys(("TestSized::test_x[one]", "TestSized::test_x[two]"), 2),
    }


def test_a_second_golden_set_leaves_the_records_of_the_first_in_use(project: Project) -> None:
    project.test()
    before = project.update()
    project.golden(project.queries(40), "golden/mobile.jsonl")
    project.write("pyproject.toml", TWO_SETS)
    result = project.run("-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_mrr?web? PASSED*", "*test_mrr?mobile? FAILED*"])
    project.rank({5: 4})
    result = project.run("-v", "-k", "web", "--snapshot-update")
    assert "*refused*" not in text_of(result)
    assert project.baseline_file().read_bytes() == before, "kept: lower, within the tolerance"


def test_configured_sets_of_one_name_cannot_share_a_baseline(project: Project) -> None:
    project.test()
    for folder in ("a", "b"):
        project.golden(project.queries(3), f"{folder}/web.jsonl")
    result = project.run(*(f"--rankcheck-golden={name}/web.jsonl" for name in "ab"))
    assert "have the same baseline, because both measure on a golden set or log named 'web'" in (
        text_of(result)
    )


def test_a_test_can_read_its_record_before_it_measures(project: Project) -> None:
    project.test()
    project.update()
    project.test(
        "def test_mrr(evaluation, baseline):\n"
        "    assert baseline.path.name == 'test_mrr--web.json'\n"
        "    assert baseline.record.mean(baseline.record.recorded_metrics[0]) == 1.0\n"
    )
    project.run().assert_outcomes(passed=1)
    project.test("def test_mrr(baseline):\n    baseline.record\n")
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "this test has not measured anything yet; make an assertion first" in text_of(result)


def test_tests_have_the_names_that_can_be_typed_where_pytest_was_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor = "def test_floor(evaluation):\n    assert_at_least(evaluation, 'RR', 0.99)\n"
    imported = "from pytest_rankcheck import assert_at_least\n"
    project.test(imported + REGRESSION_TEST + "\n" + floor)
    project.update("-k", "mrr")
    project.rank({0: 4, 1: 4})
    monkeypatch.chdir(project.path.parent)
    folder = project.path.name
    result = project.run(folder, f"--rootdir={folder}", "-c", f"{folder}/pyproject.toml")
    result.assert_outcomes(failed=2)
    named = re.findall(r"^\S*test_ranking\.py::test_\w+$", text_of(result), re.MULTILINE)
    test = f"{folder}/tests/test_ranking.py::test_"
    assert named == [f"{test}mrr", f"{test}floor"]
    assert f"documents: see {test}mrr" in text_of(result)
