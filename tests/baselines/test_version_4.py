"""Records of format version 4, as 0.2.0 wrote them, are read, compared and updated for ever.

The files in `tests/kept_records/version_4/` are never written again, so a change that makes one of these tests fail
makes records of users unreadable, or gives them another meaning.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from project import Project, text_of, undisturbed_by_this_session
from schemas import record_schema

from pytest_rankcheck import Conventions, Metric, Record
from pytest_rankcheck.behaviour.ranking_stability import StabilityLimits

RR = Metric.parse("RR")
FOLDER = Path(__file__).parents[1] / "kept_records" / "version_4"
SCHEMA = dict(record_schema().schema)


@dataclass(frozen=True)
class Case:
    """The project of a record; its test passes. What a worse and a better ranker or log is."""

    record: str
    """The name of its file."""
    files: dict[str, str]
    worse: dict[str, str]
    better: dict[str, str]
    raised: dict[str, float]
    """The means after an update with the better one, worked by hand."""


def lines(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


CONFIGURATION = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
RANKER = """
import json
from pathlib import Path

def make(replicate=1):
    rankings = json.loads((Path(__file__).parent / "rankings.json").read_text())
    return lambda text: [*rankings[f"{text} {replicate}" if replicate == 2 else text]]
"""

# --- queries with weights, shoppers and slices, of which one has no relevant document; replicates

SHOP_QUERIES = lines(
    {
        "query_id": "q1",
        "query": "red shoes",
        "relevance": {"a": 2, "b": 0},
        "locale": "de",
        "visits": 3,
        "shopper": "x",
    },
    {
        "query_id": "q2",
        "query": "boots",
        "relevance": {"a": 1, "b": 0},
        "locale": "de",
        "visits": 1,
        "shopper": "x",
    },
    {
        "query_id": "q3",
        "query": "hat",
        "relevance": {"a": 1},
        "locale": "en",
        "visits": 2,
        "shopper": "y",
    },
    {
        "query_id": "q4",
        "query": "sold out",
        "relevance": {"b": 0},
        "locale": "en",
        "visits": 2,
        "shopper": "z",
    },
)
SHOP_TEST = """
import pytest
from pytest_rankcheck import Gate, GoldenSet, assert_not_regressed

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/shop.jsonl").weighted("visits").clustered("shopper")

class TestShop:
    @pytest.mark.parametrize("device", ["phone"])
    def test_gate(self, evaluation, baseline, device):
        assert_not_regressed(evaluation, baseline, "RR", gate=Gate.tolerance(abs=0.01, min_queries=1), by="locale")
"""
AB, BA = ["a", "b", "c"], ["b", "a", "c"]


def rankings(**first: list[str]) -> dict[str, str]:
    """Return the file of the shop's rankings; the second replicate ranks q1 worse."""
    texts = {"q1": "red shoes", "q2": "boots", "q3": "hat", "q4": "sold out"}
    found = {texts[query]: first.get(query, AB) for query in texts}
    again = {f"{text} 2": ranking for text, ranking in found.items()} | {"red shoes 2": BA}
    return {"rankings.json": json.dumps(found | again)}


SHOP = Case(
    "TestShop.test_gate-phone--shop.json",
    {
        "pyproject.toml": CONFIGURATION
        + 'rankcheck_ranker = "ranker:make()"\nrankcheck_depth = 3\n'
        + 'rankcheck_metrics = ["GAUC"]\nrankcheck_world = ["index.json"]\n'
        + 'rankcheck_conventions = ["no_relevant=exclude"]\nrankcheck_kept_depth = 2\n',
        "index.json": "{}",
        "golden/shop.jsonl": SHOP_QUERIES,
        "ranker.py": RANKER,
        "test_kept.py": SHOP_TEST,
        **rankings(q3=BA),
    },
    worse=rankings(q2=BA, q3=BA),
    better=rankings(),
    raised={"RR": 1.0},
)
SEEDS = replace(
    SHOP,
    record="test_gate--shop.json",
    files=SHOP.files
    | {
        "pyproject.toml": CONFIGURATION
        + 'rankcheck_ranker = "ranker:make()"\nrankcheck_replicates = 2\n'
        + 'rankcheck_golden = "golden/shop.jsonl"\n',
        "test_kept.py": """
from pytest_rankcheck import Gate, assert_not_regressed

def test_gate(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", gate=Gate.tolerance(abs=0.01, min_queries=1), by="locale")
""",
    },
    raised={"RR": 0.6875},  # ((1 + 1/2) / 2 + 1 + 1 + 0) / 4
)

# --- what decides: assertions with their gates and slices, clusters, failed queries

DECIDES = replace(
    SHOP,
    record="test_decides--shop.json",
    files=SHOP.files
    | {
        "pyproject.toml": CONFIGURATION
        + 'rankcheck_ranker = "ranker:make()"\nrankcheck_depth = 3\n'
        + 'rankcheck_failures = "25%"\nrankcheck_inconclusive = "pass"\n',
        "test_kept.py": """
import pytest
from pytest_rankcheck import Gate, GoldenSet, assert_not_regressed

@pytest.fixture(scope="session")
def golden_set():
    return GoldenSet.load("golden/shop.jsonl").clustered("shopper")

def test_decides(evaluation, baseline):
    gate = Gate.tolerance(abs=0.01, min_queries=1)
    assert_not_regressed(evaluation, baseline, ["RR", "P@1"], gate=gate, by="locale")
    assert_not_regressed(evaluation, baseline, "nDCG@3", gate=Gate.noninferior(0.9))
""",
    },
    raised={"RR": 0.75, "P@1": 0.75},
)

# --- one value of the whole run, with a lost query; limits of rankings

USERS = Case(
    "test_gate--users.json",
    {
        "pyproject.toml": CONFIGURATION
        + 'rankcheck_golden = "golden/users.jsonl"\nrankcheck_ranker = "ranker:make()"\n'
        + 'rankcheck_documents = "documents.csv"\n',
        "golden/users.jsonl": lines(
            *({"query_id": f"u{n}", "query": f"u{n}", "relevance": {f"d{n}": 1}} for n in range(3))
        ),
        "documents.csv": "doc_id\n" + "".join(f"d{n}\n" for n in range(5)),
        "ranker.py": RANKER,
        "test_kept.py": """
from pytest_rankcheck import assert_not_regressed

def test_gate(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["CatalogCoverage@1", "Gini@1"], abs=0.05)
""",
        "rankings.json": json.dumps({"u0": ["d0", "d1"], "u1": ["d0", "d1"], "u2": ["d2", "d1"]}),
    },
    worse={"rankings.json": json.dumps(dict.fromkeys(("u0", "u1", "u2"), ["d0", "d1"]))},
    better={
        "rankings.json": json.dumps({"u0": ["d0", "d1"], "u1": ["d1", "d0"], "u2": ["d2", "d1"]})
    },
    raised={"CatalogCoverage@1": 0.6, "Gini@1": 0.4},  # 3 of 5; 2 (3 + 4 + 5) / (5 * 3) - 6/5
)
LIMITED = replace(
    USERS,
    record="test_limited--users.json",
    files=USERS.files
    | {
        "test_kept.py": """
from pytest_rankcheck import assert_ranking_stable

def test_limited(evaluation, baseline):
    assert_ranking_stable(
        evaluation, baseline, k=2, p=0.8, min_rbo=0.7, min_overlap=0.6, max_kendall=0.4,
        min_tau_ap=0.2, max_changed_queries=2, allowed_queries=1,
    )
"""
    },
    worse={"rankings.json": json.dumps(dict.fromkeys(("u0", "u1", "u2"), ["d3", "d4"]))},
    better={},
    raised={},
)

# --- sessions of a log, with users; and the replay of a log


def log(*ranks: int | None) -> dict[str, str]:
    entries = [
        {
            "session_id": f"s{n}", "event": 0, "time": 1_700_000_000 + n, "query": f"query {n}",
            "results": ["a", "b", "c"], "selected_rank": rank, "group": "AB"[n % 2], "user": f"u{n // 2}",
        }
        for n, rank in enumerate(ranks)
    ]  # fmt: skip
    return {"logs/week.jsonl": lines(*entries)}


READING = (
    'rankcheck_sessions = "logs/week.jsonl"\n'
    "rankcheck_session_reading = ['first_rank=0', 'attributes=[\"group\", \"user\"]']\n"
)
WEEK = Case(
    "test_gate--week.json",
    {
        "pyproject.toml": CONFIGURATION + READING + 'rankcheck_session_clusters = "user"\n',
        "test_kept.py": """
from pytest_rankcheck import assert_not_regressed

def test_gate(session_evaluation, baseline):
    metric = "SessionRR(abandoned=exclude)"
    assert_not_regressed(session_evaluation, baseline, metric, abs=0.01, by="group")
""",
        **log(0, 1, 0, None, 0, 1),
    },
    worse=log(1, 1, 1, None, 0, 1),
    better=log(0, 0, 0, None, 0, 0),
    raised={"SessionRR(abandoned=exclude)": 1.0},
)
REPLAY = Case(
    "test_replay--week.json",
    {
        "pyproject.toml": CONFIGURATION + READING + 'rankcheck_ranker = "ranker:make()"\n',
        "ranker.py": RANKER,
        "test_kept.py": """
import pytest
from pytest_rankcheck import assert_not_regressed

@pytest.fixture(scope="session")
def golden_set(session_log):
    return session_log.to_golden_set(propensity="power(1)")

def test_replay(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, "RR", abs=0.01)
""",
        **log(0, 1),  # the second was found at rank 2, so it counts twice
        "rankings.json": json.dumps({"query 0": BA, "query 1": BA}),
    },
    worse={"rankings.json": json.dumps({"query 0": BA, "query 1": AB})},
    better={"rankings.json": json.dumps({"query 0": AB, "query 1": BA})},
    raised={"RR": 1.0},
)
CASES = {case.record: case for case in (SHOP, SEEDS, DECIDES, USERS, LIMITED, WEEK, REPLAY)}


@dataclass(frozen=True)
class Recorded:
    """The project of a case, with its record of version 4 in place."""

    case: Case
    project: Project

    @property
    def file(self) -> Path:
        return self.project.path / "baselines" / "test_kept" / self.case.record

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            self.project.write(path, text)


@pytest.fixture(params=CASES)
def recorded(
    request: pytest.FixtureRequest, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Recorded:
    undisturbed_by_this_session(monkeypatch)
    made = Recorded(CASES[request.param], Project(pytester))
    made.write(made.case.files)
    made.project.write("baselines/test_kept/" + request.param, text_of_version_4(request.param))
    return made


def text_of_version_4(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def test_the_same_results_pass_and_give_the_same_bytes(recorded: Recorded) -> None:
    for options in ((), ("--snapshot-update",)):
        result = recorded.project.run(*options)
        assert result.ret == 0, text_of(result)
        assert recorded.file.read_text("utf-8") == text_of_version_4(recorded.case.record)
    assert "stale" not in text_of(result)


def test_worse_results_are_compared_and_blocked(recorded: Recorded) -> None:
    recorded.write(recorded.case.worse)
    for options in ((), ("--snapshot-update",)):
        result = recorded.project.run(*options)
        result.assert_outcomes(failed=1)
        assert re.search(r" regressed on | differ from the baseline", text_of(result))
        assert recorded.file.read_text("utf-8") == text_of_version_4(recorded.case.record)


def test_better_results_raise_the_record_and_keep_the_rest(recorded: Recorded) -> None:
    recorded.write(recorded.case.better)
    before = json.loads(text_of_version_4(recorded.case.record))
    result = recorded.project.run("--snapshot-update")
    assert result.ret == 0, text_of(result)
    after = json.loads(recorded.file.read_text("utf-8"))
    record_schema().validate(after)
    for name, mean in recorded.case.raised.items():
        assert after["metrics"][name]["mean"] == pytest.approx(mean, abs=1e-6)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert changed <= {
        *("digest", "metrics", "queries", "golden_set"),
        *("assertions", "ranker"),  # which records did not have at first
    }
    assert recorded.project.run().ret == 0


# --- each field is read, and each field of the schema is in one of the files


def loaded(name: str) -> Record:
    return Record.load(FOLDER / name)


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda file: file.name)
def test_a_file_has_the_schema_and_gives_its_bytes_back(file: Path) -> None:
    text = file.read_text("utf-8")
    record_schema().validate(json.loads(text))
    assert Record.load(file).text == text


def test_every_field_of_the_schema_is_in_one_of_the_files() -> None:
    missing = fields_of(SCHEMA)
    for file in FOLDER.iterdir():
        missing -= fields_in(json.loads(file.read_text("utf-8")), SCHEMA)
    assert missing == {"/retired/keys/*/weight"}, "retiring loses no queries"


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    return SCHEMA["$defs"][name] if name else schema


def below(schema: dict[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the schemas inside a schema: by name those of an object, else those of all values."""
    yield from resolved(schema).get("properties", {}).items()
    for every in ("items", "additionalProperties"):
        if isinstance(inside := resolved(schema).get(every), dict):
            yield None, inside


def fields_of(schema: dict[str, Any], path: str = "") -> set[str]:
    found = {path}
    for name, inside in below(schema):
        found |= fields_of(inside, f"{path}/{name or '*'}")
    return found


def fields_in(value: Any, schema: dict[str, Any], path: str = "") -> set[str]:
    found, known = {path}, dict(below(schema))
    values = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    )
    for name, inside in values:
        label = name if name in known else None
        if label in known:
            found |= fields_in(inside, known[label], f"{path}/{label or '*'}")
    return found


def test_a_record_under_a_preset_has_its_conventions() -> None:
    record = loaded("preset.json")
    assert record.conventions == Conventions(
        ties="input", no_relevant="one", gain="exponential", divide="min", own_document="drop"
    )
    assert record.values(Metric.parse("ndcg@5")).tolist() == [0.644287, 1.0]


def test_a_record_of_a_deep_metric_has_the_relevant_documents_below_its_top() -> None:
    ranks = loaded("deep.json").ranks("q")
    assert {doc: ranks[doc] for doc in ("first", "lost", "gone")} == {
        "first": 1,
        "lost": 42,
        "gone": 45,
    }


def test_a_record_of_queries_says_what_was_approved() -> None:
    record = loaded("TestShop.test_gate-phone--shop.json")
    assert record.test == "TestShop::test_gate[phone]"
    golden = record.golden_set
    assert (golden.name, golden.queries, golden.judgments, golden.scale) == ("shop", 4, 6, 2.0)
    assert (record.depth, record.kept_depth, record.cluster_by) == (3, 2, "shopper")
    assert record.conventions == Conventions(no_relevant="exclude")
    assert record.slices == {"locale": {"de": 2, "en": 2}}
    assert set(record.world) == {"index.json"}
    assert (record.gated, record.approved) == (("RR",), ("RR",))
    assert record.gate(RR) == "tolerance(abs=0.01, rel=0, min_queries=1)"
    assert record.values(RR).tolist()[:3] == [1, 1, 0.5]
    assert np.isnan(record.values(RR)[3])
    assert record.mean(RR) == pytest.approx((3 * 1 + 1 * 1 + 2 * 0.5) / 6, abs=1e-6)
    gauc = Metric.parse("GAUC")
    weights, by_judged = record.weights_of(RR), record.weights_of(gauc)
    assert weights is not None
    assert by_judged is not None
    assert weights.tolist() == [3, 1, 2, 2]
    assert (by_judged / weights).tolist() == [2, 2, 1, 1]
    assert record.queries.members["locale"] == {"de": [0, 1], "en": [2, 3]}
    assert record.ranking("q3") == ("b", "a")
    (approval,) = record.approvals
    assert approval.reason == 'the supplier\'s "new" feed'
    assert (approval.date[:10], approval.author) == ("2026-11-27", "Ada <ada@example.org>")
    assert approval.commit is not None
    keys = {key.name: key for key in approval.keys}
    assert (keys["fall:RR[locale=en]"].before, keys["fall:RR[locale=en]"].after) == (1.0, 0.5)
    assert keys["queries-lost"].weight == pytest.approx(0.2)


def test_replicates_directions_limits_and_a_retirement_are_read() -> None:
    recorded = loaded("test_gate--shop.json").metrics["RR"]
    assert recorded.averaged == 2
    first, second = (1 + 1 + 0.5 + 0) / 4, (0.5 + 1 + 0.5 + 0) / 4
    assert recorded.replicates == {
        "": (first, second),
        "locale=de": (1.0, 0.75),
        "locale=en": (0.25, 0.25),
    }
    users = loaded("test_gate--users.json")
    assert users.golden_set.catalogue == 5
    assert {name: metric.lower_is_better for name, metric in users.metrics.items()} == {
        "CatalogCoverage@1": False,
        "Gini@1": True,
    }
    assert users.mean(Metric.parse("CatalogCoverage@1")) == pytest.approx(2 / 5)
    assert loaded("test_limited--users.json").limits == (
        StabilityLimits(
            k=2, p=0.8, min_rbo=0.7, min_overlap=0.6, max_kendall=0.4, min_tau_ap=0.2,
            max_changed_queries=2, allowed_queries=1,
        ),
    )  # fmt: skip
    retired = loaded("retired.json").retired
    assert retired is not None
    assert retired.reason == "the shop is closed"


def test_records_of_logs_and_their_replays_are_read() -> None:
    week = loaded("test_gate--week.json")
    metric = Metric.parse("SessionRR(abandoned=exclude)")
    assert (week.kind.set_name, week.cluster_by, week.depth) == ("session log", "user", None)
    assert week.conventions.reading == "first_rank=0"
    assert week.clusters is not None
    assert week.clusters.tolist() == [0, 0, 1, 1, 2, 2]
    assert week.slice_places("group") == {"A": [0, 2, 4], "B": [1, 3, 5]}
    assert week.mean(metric) == pytest.approx((1 + 0.5 + 1 + 1 + 0.5) / 5)
    replay = loaded("test_replay--week.json")
    assert replay.conventions.replay == "power(1), clip=0.05"
    assert replay.mean(RR) == pytest.approx((1 * 0.5 + 2 * 1) / 3, abs=1e-6)
