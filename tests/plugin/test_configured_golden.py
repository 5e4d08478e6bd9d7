"""Several golden sets with one configuration: what must fit them, and how often they are read."""

from __future__ import annotations

import pytest

from pytest_rankcheck.golden import golden_files

OPTIONS = """
    [tool.pytest.ini_options]
    rankcheck_golden = "clicks.csv web.jsonl"
    rankcheck_grades = 1
    rankcheck_attributes = ["locale"]
    """
WEB = '{"query_id": "q", "relevance": {"d": 3}, "locale": "de"}\n'


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makefile(".toml", pyproject=OPTIONS)
    pytester.makefile(".csv", clicks="query_id,doc_id,segment\nu1,a,new\n")
    pytester.makefile(".jsonl", web=WEB)
    pytester.makepyfile("def test_read(golden_set): pass")
    return pytester


def test_each_of_several_golden_sets_is_read_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, really = [], golden_files.contents_of_file

    def counted(source, *others):  # type: ignore[no-untyped-def]
        read.append(source.file.name)
        return really(source, *others)

    monkeypatch.setattr(golden_files, "contents_of_file", counted)
    project.runpytest_inprocess().assert_outcomes(passed=2)
    assert sorted(read) == ["clicks.csv", "web.jsonl"]


def test_a_set_that_cannot_be_read_fails_only_its_own_tests(project: pytest.Pytester) -> None:
    project.makefile(".jsonl", web=WEB + WEB)
    result = project.runpytest()
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*web.jsonl:2: duplicate query 'q'*"])


def test_one_grade_is_for_the_tables_without_grades(project: pytest.Pytester) -> None:
    project.makefile(".toml", pyproject=OPTIONS.replace("web.jsonl", "judged.csv"))
    project.makefile(".csv", judged="query_id,doc_id,relevance,locale\nq,d,3,de\n")
    project.makepyfile(
        """
        def test_grades(golden_set):
            grades = {"clicks": {"a": 1}, "judged": {"d": 3}}[golden_set.name]
            assert golden_set.grades(golden_set.query_ids[0]) == grades
        """
    )
    project.runpytest().assert_outcomes(passed=2)
