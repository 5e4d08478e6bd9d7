"""Replicates in a test session: models that differ by their seed, ranked and recorded together."""

import pytest
from project import WITHOUT_AND_WITH_WORKERS, Project, text_of

MODELS = """
RANKS = {1: {0: 2}, 2: {0: 2, 1: 2}, 3: {2: 4}}

def train(replicate):
    ranks = {f"query {index}": rank for index, rank in RANKS[replicate].items()}

    def search(text):
        fillers = [f"filler-{n}" for n in range(1, ranks.get(text, 1))]
        return [*fillers, f"doc of {text}"]

    return search
"""


@pytest.fixture
def trained(project: Project) -> Project:
    """A project with three models, which are recorded."""
    project.write("models.py", MODELS)
    project.configure("rankcheck_replicates = 3")
    text = project.path.joinpath("pyproject.toml").read_text()
    project.write("pyproject.toml", text.replace("engine:search", "models:train()"))
    project.test()
    return project


@pytest.mark.parametrize("workers", WITHOUT_AND_WITH_WORKERS)
def test_each_replicate_is_made_anew_and_its_mean_is_recorded(
    trained: Project, workers: tuple[str, ...]
) -> None:
    result = trained.run("--snapshot-update", *workers)
    assert result.ret == 0, text_of(result)
    entry = trained.record()["metrics"]["RR"]
    # Of 80 queries: one at rank 2, two at rank 2, one at rank 4.
    assert entry["replicates"][""] == [0.99375, 0.9875, 0.990625]
    assert (entry["averaged"], entry["mean"]) == (3, 0.990625)
    text = text_of(trained.run(*workers))
    assert "3 replicates of the ranker:" in text
    assert "RR has a standard deviation of 0.003125, from 0.9875 to 0.9938" in text


CHANGING = """
from itertools import count

CALLS = count()

def search(text):
    number = int(text.rpartition(" ")[2])
    ranked = [f"doc of query {number}", "filler-1", "filler-2"]
    return ranked if number or next(CALLS) == 0 else ranked[::-1]
"""


def test_without_a_call_the_same_object_is_asked_again(project: Project) -> None:
    project.write("engine.py", CHANGING)
    project.test()
    assert project.run("--rankcheck-replicates", "3", "--snapshot-update").ret == 0
    # RR of query 0 is 1, 1/3, 1/3: means differ by (2/3)/80 = 1/120, deviation 1/120/sqrt(3).
    assert project.record()["metrics"]["RR"]["replicates"][""] == [1.0, 0.991667, 0.991667]


def test_identical_replicates_are_pointed_out_and_a_fixture_may_return_several_runs(
    project: Project,
) -> None:
    project.write(
        "conftest.py",
        "import pytest\n"
        "from pytest_rankcheck import rank\n"
        "from engine import search\n\n"
        "@pytest.fixture(scope='session')\n"
        "def ranking_run(golden_set):\n"
        "    return [rank(search, golden_set) for _ in range(2)]\n",
    )
    project.test()
    result = project.run("--snapshot-update")
    assert result.ret == 0
    assert "replicates 1 and 2 have the same rankings" in text_of(result)
    assert project.record()["metrics"]["RR"]["averaged"] == 2
