"""Which record belongs to a test: that of its own parameters and of its golden set."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from project import CONFIGURATION, Project, text_of

TWO_SETS = CONFIGURATION.replace(
    'rankcheck_golden = "golden/web.jsonl"',
    'rankcheck_golden = "golden/web.jsonl golden/mobile.jsonl"',
)

KEYS = """
from pytest_rankcheck.plugin.item_identity import item_key

def pytest_collection_modifyitems(items):
    for item in items:
        print("KEY", item.name, "->", item_key(item))
"""


def keys(project: Project, test: str, *arguments: str, conftest: str = "") -> Sequence[str]:
    """Return the keys of the tests of a module, in the order in which they run."""
    project.write("conftest.py", KEYS + conftest)
    project.test(test)
    result = project.run("--collect-only", "-q", "-s", *arguments)
    assert result.ret == 0, text_of(result)
    return [line.partition(" -> ")[2] for line in result.outlines if line.startswith("KEY ")]


OWN = "@pytest.mark.parametrize('own', ['a', 'b'])"
INDIRECT = "@pytest.mark.parametrize('golden_set', ['web', 'app'], indirect=True)"


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("def test_x(golden_set): pass", ["test_x"]),
        ("class TestA:\n    def test_x(self): pass", ["TestA::test_x"]),
        (
            (
                "class TestA:\n  class TestB:\n    @pytest.mark.parametrize('a', [1])\n"
                "    def test_x(self, a): pass"
            ),
            ["TestA::TestB::test_x[1]"],
        ),
        (f"{OWN}\ndef test_x(own): pass", ["test_x[a]", "test_x[b]"]),
        (f"{INDIRECT}\ndef test_x(golden_set): pass", ["test_x"] * 2),
        (
            f"{OWN}\n{INDIRECT}\ndef test_x(own, golden_set): pass",
            ["test_x[a]", "test_x[b]"] * 2,
        ),
        (
            f"{INDIRECT}\n{OWN}\ndef test_x(own, golden_set): pass",
            ["test_x[a]", "test_x[a]", "test_x[b]", "test_x[b]"],
        ),
        (
            (
                "@pytest.mark.parametrize('a, b', [(1, 2), (3, 4)], ids=['x-y', 'z'])\n"
                f"{INDIRECT}\ndef test_x(a, b, golden_set): pass"
            ),
            ["test_x[x-y]", "test_x[z]"] * 2,
        ),
        (
            (
                "@pytest.mark.parametrize(('golden_set', 'low', 'f'), [('web', 0.5, print), "
                "('app', 0.4, len)], indirect=['golden_set'])\ndef test_x(golden_set, low, f): pass"
            ),
            ["test_x[0.5-print]", "test_x[0.4-len]"],
        ),
        (
            (
                "@pytest.mark.parametrize('golden_set', [pytest.param('web', id=pytest.HIDDEN_PARAM), "
                f"'app'], indirect=True)\n{OWN}\ndef test_x(own, golden_set): pass"
            ),
            ["test_x[a]", "test_x[a]", "test_x[b]", "test_x[b]"],
        ),
        (
            (
                "@pytest.fixture(params=['web', 'app'])\ndef golden_set(request): return None\n"
                "@pytest.fixture(params=[1, 2], ids=['one', 'two'])\ndef size(request): return 1\n"
                "def test_x(size, golden_set): pass"
            ),
            ["test_x[one]", "test_x[one]", "test_x[two]", "test_x[two]"],
        ),
        ("@pytest.mark.parametrize('own', [''])\ndef test_x(own): pass", ["test_x[]"]),
    ],
)
def test_a_key_has_the_own_parameters(project: Project, test: str, expected: list[str]) -> None:
    assert sorted(keys(project, f"import pytest\n{test}\n")) == sorted(expected)


def test_parameters_of_a_hook_are_kept_beside_a_golden_set(project: Project) -> None:
    hook = """
def pytest_generate_tests(metafunc):
    metafunc.parametrize(("a", "b"), [(print, 2)], ids=["first"])
"""
    test = "import pytest\n{}\ndef test_x(a, b, golden_set): pass\n"
    assert keys(project, test.format(""), conftest=hook) == ["test_x[first]"]
    project.write("pyproject.toml", TWO_SETS)
    assert keys(project, test.format(""), conftest=hook) == ["test_x[first]"] * 2
    expected = ["test_x[first-a]", "test_x[first-b]"]
    test = test.replace("a, b,", "own, a, b,")
    assert sorted(set(keys(project, test.format(OWN), conftest=hook))) == expected


@pytest.mark.parametrize("name", ["__pytest_repeat_step_number", "__flakefinder_test_x"])
def test_repeats_have_one_key(project: Project, name: str) -> None:
    hook = f"""
import pytest

@pytest.fixture
def {name}(request): pass

def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("{name}")
    metafunc.parametrize("{name}", [0, 1], ids=["1-2", "2-2"], indirect=True)
"""
    test = f"import pytest\n{OWN}\ndef test_x(own): pass\n"
    assert sorted(set(keys(project, test, conftest=hook))) == ["test_x[a]", "test_x[b]"]


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


@pytest.mark.parametrize("kind", ["golden", "sessions"])
def test_configured_sets_of_one_name_are_an_error(project: Project, kind: str) -> None:
    project.write(
        "pyproject.toml",
        f'[tool.pytest.ini_options]\nrankcheck_{kind} = "a/web.v1.jsonl b/web.v2.jsonl"\n',
    )
    result = project.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*rankcheck_{kind}: *a/web.v1.jsonl and *b/web.v2.jsonl are both named 'web'*"]
    )


SUBSETS = """
import pytest
from pytest_rankcheck import GoldenSet, assert_mrr_not_regressed

@pytest.fixture(scope="session", params=["de", "en"])
def golden_set(request):
    return GoldenSet.load("golden/web.jsonl").subset(locale=request.param{name})

def test_mrr(evaluation, baseline):
    assert_mrr_not_regressed(evaluation, baseline, abs=0.01)
"""


def test_tests_on_sets_of_one_name_do_not_share_a_record(project: Project) -> None:
    project.test(SUBSETS.format(name=""))
    result = project.run("--snapshot-update")
    result.assert_outcomes(passed=1, failed=1)
    assert "test_mrr[de] have the same baseline, because both measure on a golden" in text_of(
        result
    )
    project.test(SUBSETS.format(name=", name=f'web-{request.param}'"))
    project.run("--snapshot-update").assert_outcomes(passed=2)
    assert project.record(golden="web-de")["golden_set"]["queries"] == 40


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
