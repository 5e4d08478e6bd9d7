"""The lint rules for query texts: empty, damaged, and the same or nearly the same twice."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_rankcheck import GoldenSet, LintFinding
from pytest_rankcheck.golden.lint.mojibake import repaired_text
from pytest_rankcheck.golden.lint.near_texts import close_pairs, words_of
from tests.golden.natural_texts import NATURAL


def finding(golden: GoldenSet, rule: str) -> LintFinding | None:
    found = golden.lint(rules=[rule])
    return found[0] if found else None


def pair(one: str, other: str, judged: Mapping[str, int] | None = None) -> GoldenSet:
    """Return a set with two texts, both judged the same or with the second's own judgments."""
    first = {"x": 1, "y": 2, "z": 0}
    return GoldenSet.from_dict({"a": first, "b": judged or first}, {"a": one, "b": other})


# --- empty texts ---------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u00a0", "\u200b", "\ufeff "])
def test_a_blank_text_is_an_error(blank: str) -> None:
    found = finding(pair("tea", blank), "empty-text")
    assert found is not None
    assert (found.level, found.query_ids) == ("error", ("b",))
    assert found.what == "1 query (b) without a text"


def test_a_query_without_a_text_among_queries_with_texts() -> None:
    golden = GoldenSet.from_dict({"a": {"x": 1}, "b": {"x": 1}}, {"a": "tea"})
    found = finding(golden, "empty-text")
    assert found is not None
    assert found.query_ids == ("b",)


def test_a_missing_text_that_became_a_word_is_an_error() -> None:
    texts = {"a": "tea", "b": "nan", "c": "None", "d": "", "e": "nan bread", "f": "none"}
    found = finding(GoldenSet.from_dict({each: {"x": 1} for each in texts}, texts), "empty-text")
    assert found is not None
    assert found.query_ids == ("d", "b", "c")
    assert found.what == (
        '1 query (d) without a text; 2 queries (b, c) with the text "nan" or "None", which is what '
        "pandas writes for a missing one"
    )


def test_a_set_without_texts_is_sound() -> None:
    assert finding(GoldenSet.from_dict({"a": {"x": 1}}), "empty-text") is None
    assert finding(pair("?", "!!"), "empty-text") is None


# --- mojibake ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", NATURAL)
def test_natural_text_is_sound(text: str) -> None:
    assert repaired_text(text) is None


def in_windows(text: str) -> str:
    """Return UTF-8 read as Windows-1252, as browsers do: undefined bytes are control characters."""
    characters = []
    for byte in text.encode():
        try:
            characters.append(bytes([byte]).decode("cp1252"))
        except UnicodeDecodeError:
            characters.append(chr(byte))
    return "".join(characters)


def damaged_texts() -> list[tuple[str, str]]:
    """Return each text with what it is if its UTF-8 is read as Latin-1, and as Windows-1252."""
    readers = (lambda text: text.encode().decode("latin-1"), in_windows)
    return [(text, read(text)) for read in readers for text in NATURAL]


def test_damaged_texts_are_found_and_repaired() -> None:
    """All but one: a single Greek letter before a hyphen."""
    missed = {text for text, damaged in damaged_texts() if repaired_text(damaged) != text}
    assert missed == {"α-helix β"}


@pytest.mark.oracle
def test_ftfy_agrees() -> None:
    """ftfy finds a little less, and reports two natural texts of these."""
    ftfy = pytest.importorskip("ftfy")

    def is_found(text: str) -> bool:
        return bool(ftfy.badness.is_bad(text) or ftfy.fix_encoding(text) != text)

    damaged = {each for _, each in damaged_texts()}
    theirs = {each for each in damaged if is_found(each)}
    ours = {each for each in damaged if repaired_text(each) is not None}
    assert len(ours) >= len(theirs) > 0.95 * len(damaged)
    assert len(theirs - ours) <= 2
    assert len([text for text in NATURAL if is_found(text)]) <= 2


@pytest.mark.parametrize(
    ("damaged", "repaired"),
    [
        ("cafÃ© crÃ¨me", "café crème"),
        ("itâ€™s", "it’s"),
        ("ðŸ˜€", "😀"),
        ("РїСЂРёРІРµС‚", "привет"),  # UTF-8 read as Windows-1251
        ("caf\ufffd", "caf\ufffd"),
        ("\x93tea\x94", "“tea”"),
        ("cafÃƒÂ©", "cafÃ©"),  # twice
        ("kawa ze Å›mietankÄ… – cafÃ©", "kawa ze śmietanką – café"),
    ],
)
def test_a_repair(damaged: str, repaired: str) -> None:
    assert repaired_text(damaged) == repaired


def test_the_finding_shows_the_original_text() -> None:
    found = finding(pair("tea", "cafÃ©"), "mojibake")
    assert found is not None
    assert found.query_ids == ("b",)
    assert found.what == 'the text of 1 query (b) looks damaged: "cafÃ©" was "café"'
    found = finding(pair("caf\ufffd", "cr\ufffdme"), "mojibake")
    assert found is not None
    assert found.what.endswith('(a, b) look damaged: "caf\ufffd" has lost letters')
    assert finding(pair("tea", "café"), "mojibake") is None


# --- duplicates ----------------------------------------------------------------------------------


def test_a_text_with_the_same_judgments_twice_counts_double() -> None:
    found = finding(pair("tea", "tea"), "duplicate-query")
    assert found is not None
    assert found.query_ids == ("a", "b")
    assert found.what == (
        '1 group of queries with the same text, 1 with the same judgments: 2 queries (a, b) "tea"'
    )
    assert found.why == "Queries with the same judgments are one query that counts several times"
    assert finding(pair("tea", "coffee"), "duplicate-query") is None


def test_duplicates_of_both_kinds() -> None:
    golden = GoldenSet.from_dict(
        {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}, "d": {"y": 1}},
        {"a": "tea", "b": "tea", "c": "ale", "d": "ale"},
    )
    found = finding(golden, "duplicate-query")
    assert found is not None
    assert found.what.startswith(
        "2 groups of queries with the same text, 1 with different judgments, 1 with the same "
        'judgments: 2 queries (c, d) "ale"'
    )
    assert found.query_ids == ("c", "d", "a", "b")


def test_attributes_and_samples_of_traffic_explain_equal_judgments() -> None:
    judged = {f"q{n}": {"x": 1} for n in range(6)}
    texts = {f"q{n}": f"tea {n // 2}" for n in range(6)}
    locale = {f"q{n}": {"locale": "de" if n % 2 else "en", "note": n} for n in range(6)}
    assert finding(GoldenSet.from_dict(judged, texts), "duplicate-query") is not None
    golden = GoldenSet.from_dict(judged, texts, attributes=locale)
    assert finding(golden, "duplicate-query") is None
    notes = {f"q{n}": {"note": f"only {n}"} for n in range(6)}  # nobody slices by that
    assert finding(GoldenSet.from_dict(judged, texts, attributes=notes), "duplicate-query")
    for name in ("judge", "source", "difficulty", "device", "siteless"):  # no ranker sees these
        seen_by_none = {f"q{n}": {name: "one" if n % 2 else "two"} for n in range(6)}
        judged_twice = GoldenSet.from_dict(judged, texts, attributes=seen_by_none)
        assert finding(judged_twice, "duplicate-query"), name
    markets = {f"q{n}": {"target-Market": "at" if n % 2 else "de"} for n in range(6)}
    golden = GoldenSet.from_dict(judged, texts, attributes=markets)
    assert finding(golden, "duplicate-query") is None
    users = {f"q{n}": {"user": f"u{n}"} for n in range(6)}
    sample = GoldenSet.from_dict(judged, texts, attributes=users).clustered(by="user")
    assert finding(sample, "duplicate-query") is None


# --- near-duplicates -----------------------------------------------------------------------------


def is_near(one: str, other: str) -> bool:
    words = {"a": words_of(one), "b": words_of(other)}
    return words["a"] == words["b"] or bool(list(close_pairs(words)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("heat transfer in laminar flow", "heat transfre in laminar flow"),
        ("accommodation berlin", "accomodation berlin"),
        ("running shoes", "runing shoes"),
        ("running shoes", "running shues"),
        ("the beatles", "beatles"),
        ("rezept für einen kuchen", "rezept für kuchen"),
        ("red shoe", "red shoes"),
        ("summer dress", "summer dresses"),
        ("car battery", "car batteries"),
        ("case for phones", "cases for phone"),
        ("woman winter jacket", "women winter jackets"),
        ("t-shirt", "tshirt"),
        ("women's shoes", "womens shoes"),
        ("café paris", "cafe paris"),
        ("Tea!", "tea"),
        ("iphone 12", "iphone12"),
        ("5 €", "5€"),
    ],
)
def test_texts_that_are_nearly_the_same(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        assert is_near(first, second)
        found = finding(pair(first, second), "near-duplicate-query")
        assert found is not None
        assert found.query_ids == ("a", "b")
        assert f'"{first}", "{second}"' in found.what


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("berlin paris", "paris berlin"),
        ("c", "c++"),
        ("c#", "c++"),
        ("2 for 1", "1 for 2"),
        ("iphone 12", "iphone 13"),
        ("size 8", "size 9"),
        ("vitamin a", "vitamin c"),
        ("vitamin a", "vitamin"),
        ("python 3.1", "python 3.11"),
        ("python 3.1", "python 31"),
        ("jaguar car", "-jaguar car"),
        (".net", "net"),
        ("henry iv", "henry vi"),
        ("section 1 2", "section 12"),
        ("symptomatic case", "asymptomatic case"),
        ("東京", "東宮"),
        ("cat food", "car food"),
        ("foo_bars", "foo_bard"),
        ("1/2 cup", "12 cup"),
        ("10% off", "10 off"),
        ("5 €", "5 $"),
        ("5€", "5$"),
        ("5 %", "5 €"),
        ("error 500", "error 503"),
        ("sonnets", "linnets"),
        ("!!", "??"),
    ],
)
def test_texts_that_are_not_nearly_the_same(one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        assert not is_near(first, second)
        assert finding(pair(first, second), "near-duplicate-query") is None


def test_a_typo_needs_mostly_the_same_relevant_documents() -> None:
    """'adsorption' is not 'absorption': texts suggest a pair, and judgments decide."""
    close = "gas adsorption", "gas absorption"
    assert is_near(*close)
    for judged, is_found in (
        ({"x": 1, "y": 2, "z": 0}, True),
        ({"x": 1, "y": 1, "n": 2}, True),  # 2 of 3
        ({"x": 1, "n": 2}, False),  # 1 of 3
        ({"n": 1}, False),
        ({"z": 1}, False),  # shared, but not relevant to the first
    ):
        found = finding(pair(*close, judged), "near-duplicate-query")
        assert (found is not None) == is_found, judged


def test_another_spelling_needs_no_common_documents() -> None:
    found = finding(pair("Tea!", "tea", {"n": 1}), "near-duplicate-query")
    assert found is not None
    assert "1 with different judgments" in found.what


def test_variants_of_one_text_are_one_group() -> None:
    texts = ["red shoe", "red shoes", "the red shoes", "red shoess", "blue shoes", "red shoe"]
    golden = GoldenSet.from_dict(
        {f"q{n}": {"x": 1} for n in range(len(texts))},
        {f"q{n}": text for n, text in enumerate(texts)},
    )
    found = finding(golden, "near-duplicate-query")
    assert found is not None
    assert found.query_ids == ("q0", "q1", "q2", "q3")
    assert "1 group of" in found.what
    same = finding(golden, "duplicate-query")
    assert same is not None
    assert same.query_ids == ("q0", "q5")


@pytest.mark.parametrize("form", ["text {0:08x}", "text {0}", "shoe{1}", "word{0:x}s and more"])
def test_few_pairs_are_compared(form: str) -> None:
    """The number of pairs is at most a few for each text, whatever the texts are."""
    texts = {str(n): words_of(form.format(n, "s" * (n % 2))) for n in range(2000)}
    assert sum(1 for _ in close_pairs(texts)) <= 2000 * 8 * 12
