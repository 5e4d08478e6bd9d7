"""Gates on one value of the whole run: what is recorded, and what needs an approval."""

import json
from pathlib import Path
from typing import Any

import pytest

INI = """
[tool.pytest.ini_options]
rankcheck_golden = "golden.jsonl"
rankcheck_documents = "documents.csv"
rankcheck_interactions = "train.csv"
rankcheck_slices = "locale"
"""
CONFTEST = """
import json, pathlib, pytest

@pytest.fixture(scope="session")
def ranker():
    return lambda query: json.loads(pathlib.Path("ranking.json").read_text())[query]
"""
TEST = """
from pytest_rankcheck import assert_at_most, assert_not_regressed

def test_gate(evaluation, baseline):
    assert_not_regressed(evaluation, baseline, ["CatalogCoverage@2", "nDCG@2"], abs=0.1)

def test_seen(evaluation):
    assert_at_most(evaluation, "SeenItems@2", 0)
"""
LINES = [
    {"query_id": f"u{n}", "query": f"u{n}", "relevance": {f"d{n}": 1}, "locale": "de"}
    for n in range(6)
]


class Project:
    """A project whose ranker returns what a file says."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        pytester.makefile(".toml", pyproject=INI)
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile(test_it=TEST)
        Path("train.csv").write_text("user,item\nu0,d9\n")
        self.golden(6)
        self.catalogue(10)
        self.rank({f"u{n}": [f"d{n}", f"d{n + 1}"] for n in range(8)})

    def golden(self, queries: int) -> None:
        more = [{**LINES[0], "query_id": f"u{n}", "query": f"u{n}"} for n in range(6, queries)]
        Path("golden.jsonl").write_text("".join(f"{json.dumps(e)}\n" for e in [*LINES, *more]))

    def catalogue(self, documents: int) -> None:
        rows = [f"d{n},Title {n}\n" for n in range(documents)]
        Path("documents.csv").write_text("doc_id,title\n" + "".join(rows))

    def rank(self, rankings: dict[str, list[str]]) -> None:
        Path("ranking.json").write_text(json.dumps(rankings))

    def run(self, *options: str) -> pytest.RunResult:
        return self.pytester.runpytest("-p", "no:cacheprovider", "-k", "gate", *options)

    @property
    def record(self) -> dict[str, Any]:
        (file,) = Path("baselines/test_it").glob("*.json")
        content: dict[str, Any] = json.loads(file.read_text())
        return content


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    made = Project(pytester)
    made.run("--snapshot-update").assert_outcomes(passed=1)
    return made


def test_the_record_has_the_value_once_and_the_size_of_the_catalogue(project: Project) -> None:
    record = project.record
    assert record["metrics"]["CatalogCoverage@2"]["mean"] == 0.7
    assert record["golden_set"]["catalogue"] == 10
    assert all(list(line["values"]) == ["nDCG@2"] for line in record["queries"])
    before = [file.read_bytes() for file in Path("baselines/test_it").iterdir()]
    project.run().assert_outcomes(passed=1)
    project.run("--snapshot-update").assert_outcomes(passed=1)
    assert before == [file.read_bytes() for file in Path("baselines/test_it").iterdir()]


def test_a_fall_is_blocked_and_approved(project: Project) -> None:
    project.rank({f"u{n}": [f"d{n % 3}", "d9"] for n in range(6)})
    result = project.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*2 of 2 metrics regressed on golden set 'golden' (6 queries); allowed: tolerance(abs=0.1*",
            "*CatalogCoverage@2 *0.7000 -> 0.4000 *-0.3000 *one value of the whole run (95% interval *",
            '* d9 "Title 9" is in the top 2 of 6 queries, 0 before',
            '* d3 "Title 3" is in no top 2 any more, 2 before',
        ]
    )
    project.run("--snapshot-update").assert_outcomes(failed=1)
    assert project.record["metrics"]["CatalogCoverage@2"]["mean"] == 0.7
    project.run("--rankcheck-approve", "fewer documents on purpose").assert_outcomes(passed=1)
    keys = project.record["approvals"][0]["keys"]
    assert keys["fall:CatalogCoverage@2"] == {"from": 0.7, "to": 0.4}
    project.run().assert_outcomes(passed=1)


def test_reports_have_no_values_by_query(project: Project) -> None:
    project.rank({f"u{n}": [f"d{n % 3}", "d9"] for n in range(6)})
    project.run("--rankcheck-json=report.json")
    report = json.loads(Path("report.json").read_text())
    gate = next(each for each in report["gates"] if each["metric"] == "CatalogCoverage@2")
    assert (gate["baseline"], gate["now"]) == (0.7, 0.4)
    overall = gate["overall"]
    assert [overall[name] for name in ("wins", "ties", "losses", "interval", "p")] == [None] * 5
    (measured,) = report["measurements"]
    assert measured["means"]["CatalogCoverage@2"] == [0.7, 0.4]
    values = {tuple(each["values"]["CatalogCoverage@2"]) for each in measured["queries"]}
    assert values == {(None, None)}


def test_another_catalogue_needs_an_approval_and_blocks_no_other_metric(project: Project) -> None:
    project.catalogue(12)
    for options in ((), ("--snapshot-update",)):
        result = project.run(*options)
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            [
                "*CatalogCoverage@2 on golden set 'golden' cannot be compared with its baseline",
                "*catalogue: 10 documents in the baseline, 12 now*; if it changes often, gate Distinct@k, *floor",
                "*CatalogCoverage@2 was 0.7000, of what was measured then",
            ]
        )
        assert "nDCG@2 on golden set" not in result.stdout.str()
    project.run("--rankcheck-approve", "new products").assert_outcomes(passed=1)
    assert project.record["approvals"][0]["keys"]["catalogue"] == {"from": 10, "to": 12}
    assert project.record["golden_set"]["catalogue"] == 12
    project.run().assert_outcomes(passed=1)


def test_another_golden_set_needs_an_approval(project: Project) -> None:
    project.golden(8)
    result = project.run("--snapshot-update")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the golden set changed, and one value of the whole run has no*"])
    file = Path("golden.jsonl")
    file.write_text(file.read_text().replace('"u0"', '"v0"', 1))
    result = project.run("--rankcheck-approve", "two users more")
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r".*removed or edited: u0 \(nDCG@2 \d\.\d{4}\)$"])
    assert "golden-set" in project.record["approvals"][0]["keys"]
    project.run().assert_outcomes(passed=1)


def test_what_is_recorded_and_not_gated_follows_the_golden_set(project: Project) -> None:
    test = TEST.replace('["CatalogCoverage@2", "nDCG@2"]', '"nDCG@2"')
    project.pytester.makepyfile(test_other=test)
    options = ("-o", "rankcheck_metrics=CatalogCoverage@2", "test_other.py")
    project.run("--snapshot-update", *options).assert_outcomes(passed=1)
    project.golden(8)
    project.run(*options).assert_outcomes(failed=1)
    project.run("--snapshot-update", *options).assert_outcomes(passed=1)
    (file,) = Path("baselines/test_other").glob("*.json")
    assert json.loads(file.read_text())["metrics"]["CatalogCoverage@2"]["mean"] == 0.9
    project.run(*options).assert_outcomes(passed=1)


def test_what_is_unknown_is_noted_whichever_test_comes_first(project: Project) -> None:
    project.pytester.makepyfile(
        test_it="""
        from pytest_rankcheck import assert_at_least

        def test_ndcg(evaluation):
            assert_at_least(evaluation, "nDCG@2", 0.1)

        def test_coverage(evaluation):
            assert_at_least(evaluation, "CatalogCoverage@2", 0.1)
        """
    )
    project.catalogue(4)
    words = " ".join(project.pytester.runpytest().stdout.str().split())
    assert "warning: means that may mislead: golden set 'golden': 3 of 7 ranked documents" in words
    assert words.count("3 of 7 ranked documents without a row") == 1


def test_columns_of_interactions_can_be_named(project: Project) -> None:
    Path("train.csv").write_text("customer,sku\nu0,d0\n")
    result = project.pytester.runpytest("-k", "seen")
    result.stdout.fnmatch_lines(
        ["*no column 'user', 'item'. Its columns are customer, sku.*(rankcheck_columns)*"]
    )
    named = 'rankcheck_columns = ["user=customer", "item=sku"]\n'
    Path("pyproject.toml").write_text(INI + named)
    result = project.pytester.runpytest("-k", "seen")
    result.stdout.fnmatch_lines(["*SeenItems@2 is 0.0833 on*"])


def test_an_edited_record_breaks_its_promise(project: Project, pytester: pytest.Pytester) -> None:
    for command in ("init -q", "add .", "-c user.name=a -c user.email=b commit -qm all"):
        assert pytester.run("git", *command.split()).ret == 0
    project.rank({f"u{n}": [f"d{n % 3}", "d9"] for n in range(6)})
    (file,) = Path("baselines/test_it").glob("*.json")
    file.unlink()
    project.run("--snapshot-update").assert_outcomes(passed=1)
    result = project.run("--rankcheck-baseline-ref=HEAD")
    result.assert_outcomes(failed=1)


def test_what_a_user_has_seen_is_named_with_its_title(project: Project) -> None:
    project.rank({f"u{n}": [f"d{n}", "d9"] for n in range(6)})
    result = project.pytester.runpytest("-k", "seen")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*SeenItems@2 is 0.0833 on*", '*d9 "Title 9" at 2, seen before'])


def test_one_ranking_for_all_queries_is_pointed_out(project: Project) -> None:
    same = "all 6 queries have the same ranking: d1, d2; does the ranker read the query?"
    assert same not in project.run().stdout.str().replace("\n", " ")
    project.rank({f"u{n}": ["d1", "d2"] for n in range(6)})
    assert same in " ".join(project.run().stdout.str().split())
