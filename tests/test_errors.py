"""The exceptions, and how their messages quote untrusted text."""

import re
import tomllib
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import pytest_rankcheck
from pytest_rankcheck import (
    BaselineError,
    ConfigurationError,
    GoldenSetError,
    MetricError,
    RankcheckError,
    RankerError,
    RunError,
)
from pytest_rankcheck.errors import listed, plural, quoted, suggestion
from pytest_rankcheck.remedies import install


def test_all_our_errors_have_one_base_class() -> None:
    for error in (BaselineError, ConfigurationError, GoldenSetError, MetricError, RunError):
        assert issubclass(error, RankcheckError)
        assert issubclass(error, ValueError), "it is about a value"
    assert issubclass(RankerError, RankcheckError)
    assert not issubclass(RankerError, ValueError)


def test_untrusted_text_is_quoted_on_one_harmless_line() -> None:
    shown: dict[object, str] = {
        "rote Schuhe für Käse 鞋": "rote Schuhe für Käse 鞋",
        "a\nb\tc": r"a\nb\tc",
        "\x1b[2J": r"\x1b[2J",
        "\u202egnp\u2028\u200b\ud800": r"\u202egnp\u2028\u200b\ud800",
        "\x00\x7f\x85": r"\x00\x7f\x85",
        "{0} %s": "{0} %s",
        None: "None",
        "x" * 120: "x" * 120,
        "x" * 121: "x" * 117 + "...",
    }
    assert {text: quoted(text) for text in shown} == shown
    assert quoted("abcdefghij", 8) == "abcde..."


@given(st.text(alphabet=st.characters(), max_size=300))
def test_untrusted_text_never_hides_or_breaks_a_message(text: str) -> None:
    shown = quoted(text)
    assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    shown.encode("utf-8")
    assert len(shown) <= 120 * len(r"\U0001d173")


def test_numbers_lists_and_suggestions_read_well() -> None:
    assert plural(1, "query", "queries") == "1 query"
    assert plural(2, "query", "queries") == "2 queries"
    assert plural(12345, "judgment") == "12,345 judgments"
    assert listed([]) == ""
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed(list(range(2005))) == "0, 1, 2, 3, 4 and 2,000 more"
    assert listed(["a\nb"]) == r"a\nb"
    assert suggestion("NDGC", ["nDCG", "AP"]) == "; did you mean 'nDCG'?"
    assert suggestion("zebra", ["nDCG", "AP"]) == ""


def test_the_extras_that_messages_name_exist() -> None:
    root = Path(pytest_rankcheck.__file__).parents[1]
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    named: set[str] = set()
    for file in (root / "pytest_rankcheck").rglob("*.py"):
        text = file.read_text("utf-8")
        named |= {*re.findall(r"\binstall\([\"']([a-z]+)[\"']\)", text)}
    for file in [
        *root.glob("*.md"),
        *root.rglob("docs/*.md"),
        *root.rglob("pytest_rankcheck/**/*.py"),
    ]:
        assert not re.search("pip install .pytest-rankcheck", file.read_text("utf-8")), file
    assert named == {"datasets", "fast", "http", "report", "yaml", "zstd"}
    for extra in named:
        packages = [re.split("[>;]", each)[0] for each in project["optional-dependencies"][extra]]
        assert install(extra) == f"pip install {' '.join(packages)}"
