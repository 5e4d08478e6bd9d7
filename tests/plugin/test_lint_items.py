"""``pytest --rankcheck-lint``: one test per golden set."""

from __future__ import annotations

from pathlib import Path

import pytest

INI = """
[tool.pytest.ini_options]
rankcheck_golden = "golden/web.qrels golden/mobile.jsonl"
rankcheck_lint = ["scale=0..3"]
"""
MOBILE = '{"query_id": "m", "query": "shoes", "relevance": {"a": 2, "b": 0}}\n'


def configure(pytester: pytest.Pytester, options: str) -> None:
    """Write the configuration of a project with a ranker in ``engine.py``."""
    table = '[tool.pytest.ini_options]\npythonpath = ["."]\nrankcheck_ranker = "engine:search"\n'
    pytester.makefile(".toml", pyproject=table + options)


@pytest.fixture
def golden(pytester: pytest.Pytester) -> Path:
    pytester.makefile(".toml", pyproject=INI)
    folder = pytester.mkdir("golden")
    (folder / "web.qrels").write_text("q 0 a 1\nq 0 a 2\nq 0 b 0\n")
    (folder / "mobile.jsonl").write_text(MOBILE)
    return folder


def test_errors_fail_and_warnings_are_shown(pytester: pytest.Pytester, golden: Path) -> None:
    (golden / "mobile.jsonl").write_text(MOBILE.replace("2", "0"))
    result = pytester.runpytest("--rankcheck-lint", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "golden/web.qrels::lint FAILED*",
            "golden/mobile.jsonl::lint PASSED*",
            "*lint of golden set web.qrels*",
            "golden set 'web' (1 query): 1 error, 1 warning",
            "  error contradictory-judgment: 1 judgment contradicts another: document 'a' *, 1 and 2",
            "    at  *golden?web.qrels:2",
            "    why *",
            "    do  *",
            "lint of golden set 'mobile':",
            "  warning no-relevant: 1 query without a relevant document: m*mobile.jsonl:1)",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "lint_items.py" not in result.stdout.str()


def test_a_corpus_is_configured_or_given(pytester: pytest.Pytester, golden: Path) -> None:
    (golden / "web.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (pytester.path / "stock.txt").write_text("A\nb\n")
    pytester.runpytest("--rankcheck-lint").assert_outcomes(passed=2)
    result = pytester.runpytest("--rankcheck-lint", "--rankcheck-corpus=stock.txt")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*error misspelt-id: 1 of 2 judged documents is not in the*"])
    pytester.makefile(".toml", pyproject=INI + 'rankcheck_corpus = "stock.txt"\n')
    pytester.runpytest("--rankcheck-lint", "-n", "2").assert_outcomes(failed=2)
    (pytester.path / "stock.txt").unlink()
    result = pytester.runpytest("--rankcheck-lint")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*corpus: *stock.txt does not exist; correct rankcheck_corpus*"])


def test_lint_items_are_collected_and_selected_like_tests(
    pytester: pytest.Pytester, golden: Path
) -> None:
    pytester.makepyfile("def test_other(): pass")
    pytester.runpytest().assert_outcomes(passed=1)
    pytester.runpytest("--rankcheck-lint").assert_outcomes(passed=2, failed=1)
    pytester.runpytest("--rankcheck-lint", "-k", "mobile").assert_outcomes(passed=1, deselected=2)
    pytester.runpytest("--rankcheck-lint", "-x").assert_outcomes(passed=1, failed=1)
    result = pytester.runpytest("--rankcheck-lint", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["golden/web.qrels::lint", "golden/mobile.jsonl::lint"])


@pytest.mark.slow
def test_under_xdist(pytester: pytest.Pytester, golden: Path) -> None:
    pytester.runpytest("--rankcheck-lint", "-n", "2").assert_outcomes(passed=1, failed=1)


def test_contradictions_resolved_by_a_rule_are_only_a_warning(
    pytester: pytest.Pytester, golden: Path
) -> None:
    pytester.makefile(".toml", pyproject=INI + 'rankcheck_contradictions = "highest"\n')
    result = pytester.runpytest("--rankcheck-lint")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["  warning contradictory-judgment: *"])


def test_a_file_that_cannot_be_read_is_a_failure_without_a_traceback(
    pytester: pytest.Pytester, golden: Path
) -> None:
    (golden / "web.qrels").write_text("q 0 b 1\nq 0 a\n")
    result = pytester.runpytest("--rankcheck-lint")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*web.qrels:2: 3 columns, not 4: 'q 0 a'*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("ini", "message"),
    [
        ("", "*no golden set: the fixture golden_set needs one*"),
        ('rankcheck_golden = "no.qrels"', "*no.qrels does not exist*"),
        ('rankcheck_golden = "golden/web.qrels"\nrankcheck_lint = ["one-grad=error"]',
         "*rankcheck_lint: 'one-grad' is neither*did you mean 'one-grade'*"),
        ('rankcheck_golden = "golden/web.qrels"\nrankcheck_grades = ["one"]',
         "*rankcheck_grades: 'one' is not of the form name=value, such as 1=4*"),
        ('rankcheck_golden = "golden/web.qrels"\nrankcheck_grades = ["1=x"]',
         "*rankcheck_grades: the grade 'x' of code '1' is not a number*"),
    ],
)  # fmt: skip
def test_a_wrong_configuration_is_a_usage_error(
    pytester: pytest.Pytester, golden: Path, ini: str, message: str
) -> None:
    pytester.makefile(".toml", pyproject=f"[tool.pytest.ini_options]\n{ini}\n")
    result = pytester.runpytest("--rankcheck-lint")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_a_column_that_gates_must_be_an_attribute(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nrankcheck_golden = web.csv\nrankcheck_slices = locale")
    pytester.makefile(
        ".csv", web="query_id,doc_id,relevance,locale\nq,a,1,de\nq,b,0,dd\nr,a,1,en\nr,b,0,en\n"
    )
    pytester.makepyfile("def test_nothing(golden_set): pass")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*has no attribute 'locale': it is a column of the candidates*"])


def test_one_grade_for_all_interactions_is_configured(pytester: pytest.Pytester) -> None:
    configure(
        pytester,
        """
        rankcheck_golden = "clicks.csv"
        rankcheck_grades = 1
        rankcheck_columns = ["query_id=user", "doc_id=item"]
        """,
    )
    pytester.makefile(".csv", clicks="user,item,segment\nu1,a,new\nu2,b,old\n")
    pytester.makepyfile(
        engine="""
        from pytest_rankcheck import Query

        def search(query: Query):
            return {"u1": ["a"], "u2": ["a", "b"]}[query.id]

        def search_text(text):
            return ["a"]
        """
    )
    pytester.makepyfile(
        """
        def test_grades(golden_set, evaluation):
            assert evaluation.mean("RR") == 0.75
            assert [query.text for query in golden_set] == [None, None]
        """
    )
    pytester.runpytest().assert_outcomes(passed=1)
    result = pytester.runpytest("--rankcheck-ranker=engine:search_text")
    result.stdout.fnmatch_lines(
        ["*the query has no text*annotate the ranker's first parameter as*"]
    )


def test_options_need_to_fit_one_of_several_golden_sets(pytester: pytest.Pytester) -> None:
    pytester.makefile(".csv", clicks="query_id,doc_id,segment\nu1,a,new\n")
    pytester.makefile(".jsonl", web='{"query_id": "q", "relevance": {"d": 3}, "locale": "de"}\n')
    options = """
        [tool.pytest.ini_options]
        rankcheck_golden = "{}"
        rankcheck_grades = 1
        rankcheck_attributes = ["{}"]
        """
    pytester.makepyfile(
        """
        GRADES = {"clicks": {"a": 1}, "web": {"d": 3}}
        ATTRIBUTES = {"clicks": (), "web": ("locale",)}

        def test_read(golden_set):
            [query] = golden_set
            assert golden_set.grades(query.id) == GRADES[golden_set.name]
            assert golden_set.attributes == ATTRIBUTES[golden_set.name]
        """
    )
    pytester.makefile(".toml", pyproject=options.format("clicks.csv web.jsonl", "locale"))
    pytester.runpytest().assert_outcomes(passed=2)
    pytester.makefile(".toml", pyproject=options.format("clicks.csv web.jsonl", "localle"))
    result = pytester.runpytest()
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines(["*no query has an attribute 'localle'*"])
    pytester.makefile(".toml", pyproject=options.format("web.jsonl", "locale"))
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*grades=1 is for judgments without a grade*"])


def test_golden_sets_are_read_as_configured(pytester: pytest.Pytester) -> None:
    configure(
        pytester,
        """
        rankcheck_golden = "judged.csv scifact"
        rankcheck_grades = ["1=3", "2=2", "best=3"]
        rankcheck_columns = ["doc_id=sku"]
        rankcheck_contradictions = "last"
        rankcheck_split = "dev"
        rankcheck_scale = "5"
        rankcheck_attributes = ["locale"]
        """,
    )
    pytester.makefile(".csv", judged="query,sku,label,locale,note\nred,a,2,de,x\nred,a,1,de,x\n")
    qrels = pytester.mkdir("scifact") / "qrels"
    qrels.mkdir()
    (qrels / "dev.tsv").write_text("query-id\tsku\tscore\nq\ta\tbest\n")
    (qrels.parent / "queries.jsonl").write_text(
        '{"_id": "q", "text": "red", "locale": "de", "note": "x"}\n'
    )
    pytester.makepyfile(engine="def search(text): return ['a']")
    pytester.makepyfile(
        """
        def test_grades(golden_set, evaluation):
            (query,) = golden_set
            assert query.text == "red"
            assert golden_set.grades(query.id) == {"a": 3}
            assert golden_set.scale == 5
            assert golden_set.attributes == ("locale",)
            assert evaluation.mean("RR") == 1
        """
    )
    pytester.runpytest().assert_outcomes(passed=2)


def test_session_logs_are_linted_too(pytester: pytest.Pytester) -> None:
    row = '{{"session_id": "s{}", "results": ["a", "b"], "selected_rank": {}}}\n'
    rows = "".join(row.format(number, number % 3 or "null") for number in range(30))
    pytester.mkdir("logs")
    pytester.path.joinpath("logs/good.jsonl").write_text(rows)
    pytester.path.joinpath("logs/day-1.jsonl").write_text(rows)
    pytester.path.joinpath("logs/day-2.jsonl").write_text(rows)
    ini = """
[tool.pytest.ini_options]
rankcheck_sessions = ["logs/good.jsonl", "logs/day-*.jsonl"]
rankcheck_session_reading = ["first_rank=1"]
"""
    pytester.makefile(".toml", pyproject=ini)
    result = pytester.runpytest("--rankcheck-lint", "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "logs/good.jsonl::lint PASSED*",
            "logs/day-[*].jsonl::lint FAILED*",
            "*lint of session log day-*.jsonl*",
            "session log 'day' (30 sessions): 2 errors, 0 warnings",
            "  error refused-log: *",
            "  error duplicate-rows: 30 rows of 60 (50.0%) are identical to an earlier one",
            "lint of session log 'good':",
            "  warning sessions-of-one-event: each of the 30 sessions has a single event*",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    silent = ini + 'rankcheck_lint = ["sessions-of-one-event=error"]\n'
    pytester.makefile(".toml", pyproject=silent)
    pytester.runpytest("--rankcheck-lint", "-k", "good").assert_outcomes(failed=1, deselected=1)
    pytester.path.joinpath("logs/good.jsonl").unlink()
    result = pytester.runpytest("--rankcheck-lint")
    output = result.stdout.str() + result.stderr.str()
    assert "good.jsonl does not exist; correct rankcheck_sessions" in output


CODES = "".join(f"q{n} 0 d{code} {code}\n" for n in range(10) for code in (1, 2, 3))
RANKED = "".join(f"q{n} Q0 d{code} {code} {9 - code} t\n" for n in range(10) for code in (1, 2, 3))


def test_the_configured_run_is_linted_with(pytester: pytest.Pytester) -> None:
    """As deep as it is, whatever the depth that is measured; a ranker is not asked."""
    configure(pytester, 'rankcheck_golden = "codes.qrels"\nrankcheck_depth = 10\n')
    (pytester.path / "codes.qrels").write_text(CODES)
    (pytester.path / "codes.run").write_text(RANKED)
    pytester.makepyfile(engine="def search(query): raise AssertionError")
    result = pytester.runpytest("--rankcheck-lint")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        ["  not checked: inverted-scale, stale-document (no run is given); give --rankcheck-run a*"]
    )
    result = pytester.runpytest("--rankcheck-lint", "--rankcheck-run", "codes.run")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "lint of golden set 'codes':",
            "  not checked: stale-document (run 'codes.run' has 3 documents a query, not 1,000)",
            "  warning inverted-scale: documents that run 'codes.run' ranks higher have lower *",
        ]
    )
    (pytester.path / "codes.run").write_text("q0 Q0\n")
    result = pytester.runpytest("--rankcheck-lint", "--rankcheck-run", "codes.run")
    result.assert_outcomes(passed=1)  # what is wrong with the run is for other tests
    result.stdout.fnmatch_lines(["*not checked: inverted-scale, stale-document (*cannot be read*"])


@pytest.mark.parametrize(
    ("ini", "metric"),
    [
        ("", "nDCG@10"),
        ('rankcheck_metrics = ["Success@5", "RR"]', "Success@5"),
        (
            'rankcheck_metrics = ["P@5"]\nrankcheck_gate = ["no AP: tolerance()", "web RR: tolerance()"]',
            "RR",
        ),
    ],
)
def test_few_queries_is_about_the_gated_metric(
    pytester: pytest.Pytester, golden: Path, ini: str, metric: str
) -> None:
    lint = 'rankcheck_golden = "golden/web.qrels"\nrankcheck_lint = ["tolerance=0.02"]\n'
    pytester.makefile(".toml", pyproject=f"[tool.pytest.ini_options]\n{lint}{ini}\n")
    result = pytester.runpytest("--rankcheck-lint")
    result.stdout.fnmatch_lines([f"*few-queries: 1 query for a tolerance of 0.02 of {metric};*"])
    own = lint.replace('0.02"', '0.02", "metric=AP"')
    pytester.makefile(".toml", pyproject=f"[tool.pytest.ini_options]\n{own}{ini}\n")
    pytester.runpytest("--rankcheck-lint").stdout.fnmatch_lines(["*of 0.02 of AP;*"])
