"""The perturbations that are built in: by hand, and what holds of all of them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, perturbations
from pytest_rankcheck.behaviour.perturbations import _neighbours, perturbation_named

NFD = "cafe\u0301"
NFC = "caf\u00e9"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("case", "Red shoes", ["red shoes", "RED SHOES", "Red Shoes"]),
        ("case", "red", ["RED", "Red"]),
        ("case", "42", []),
        ("case", "straße", ["STRASSE", "Straße"]),
        ("white_space", "red", ["  red "]),
        ("white_space", "a b", ["  a b ", "a  b", "a\tb", "a\u00a0b"]),
        ("unicode", "red", []),
        ("unicode", NFC, [NFD]),
        ("unicode", NFD, [NFC]),
        ("unicode", "ﬁx", ["fix"]),
        ("accents", "crème brûlée", ["creme brulee"]),
        ("accents", NFD, ["cafe"]),
        ("accents", "Łódź", ["Łodz"]),  # Ł has no decomposition
        ("accents", "red", []),
        ("accents", "한국어", []),  # jamo are not marks
        ("punctuation", "red shoes", ["red shoes?", "red shoes."]),
        ("punctuation", "json.dumps", ["json dumps", "json.dumps?", "json.dumps."]),
        ("punctuation", "what's new?", ["what s new"]),
        ("punctuation", "...", []),
        ("plural", "red shoe", ["red shoes"]),
        ("plural", "red shoes", ["red shoe"]),
        ("plural", "city", ["cities"]),
        ("plural", "cities", ["city"]),
        ("plural", "CITY", ["CITIES"]),
        ("plural", "CITIES", ["CITY"]),
        ("plural", "day", ["days"]),
        ("plural", "box", ["boxes"]),
        ("plural", "boxes", ["box"]),
        ("plural", "watch", ["watches"]),
        ("plural", "watches", ["watch"]),
        ("plural", "glass", ["glasses"]),
        ("plural", "bus", ["buses"]),
        ("plural", "c++", []),
        ("plural", "os", []),
        ("word_order", "red", []),
        ("word_order", "red shoes", ["shoes red"]),
        ("word_order", "a b c", ["c b a", "c a b", "b c a"]),
        ("word_order", "a a", []),
        ("prefix", "shoes", ["shoe", "sho"]),
        ("prefix", "red shoes", ["red shoe", "red sho", "red sh"]),
        ("prefix", "big a", ["big"]),
        ("prefix", "abc", []),
    ],
)
def test_by_hand(name: str, text: str, expected: list[str]) -> None:
    assert perturbations()[name](text) == expected


def test_a_typo_is_one_slip_in_a_long_word_and_not_in_its_first_letter() -> None:
    typo = perturbations()["typo"]
    made = {typo("big shoes", seed)[0] for seed in range(3000)}
    assert {"big hsoes", "big ahoes", "bug shoes"}.isdisjoint(made)
    assert all(text.startswith("big s") for text in made)
    assert "big soes" in made  # lost
    assert "big shhoes" in made  # doubled
    assert "big sohes" in made  # swapped
    assert "big shoed" in made  # d is beside s
    # Letters 2 to 5 (h, o, e, s) may each become one of their neighbours (g j y u b n; i p k l;
    # w r s d; a d w e z x), be lost or doubled; or three pairs be swapped: 20 + 4 + 4 + 3.
    assert len(made) == 31


def test_a_typo_follows_from_the_seed_and_the_text() -> None:
    typo = perturbations()["typo"]
    assert typo("running shoes", 1) == typo("running shoes", seed=1)
    assert len({tuple(typo("running shoes", seed)) for seed in range(20)}) > 5
    # Recorded once: it must stay the same in every version of Python.
    assert [typo("running shoes", seed)[0] for seed in range(4)] == [
        "rnuning shoes",
        "running shoe",
        "running shoss",
        "running shooes",
    ]
    assert typo("big cat", 0) == []
    assert typo("123456", 0) == []
    assert typo("", 0) == []


def test_keys_touch_each_other_both_ways() -> None:
    near = _neighbours()
    assert set(near["g"]) == set("fhtyvb")
    assert set(near["a"]) == set("sqwz")
    assert set(near["p"]) == set("ol")
    assert set(near["m"]) == set("njk")
    for key, others in near.items():
        assert all(key in near[other] for other in others), key


texts = st.text(max_size=30) | st.text("aé .?ßİsS\u0301日", max_size=12)


@pytest.mark.parametrize("name", perturbations())
@given(text=texts, seed=st.integers(0, 50))
@example(text="\u0301\u0301 \u0130stanbul", seed=0)
@example(text="ﬃ\x00\ud800", seed=1)
def test_all_return_other_texts_each_once_and_the_same_again(
    name: str, text: str, seed: int
) -> None:
    made = perturbations()[name](text, seed)
    assert text not in made
    assert all(other.strip() for other in made)
    assert len(set(made)) == len(made)
    assert perturbation_named(name)(text, seed) == made


@given(text=texts)
def test_each_perturbation_changes_only_what_it_describes(text: str) -> None:
    """Each changes what it says and nothing else."""
    built_in = perturbations()
    for other in built_in["word_order"](text):
        assert sorted(other.split()) == sorted(text.split())
    for other in built_in["white_space"](text):
        assert other.split() == text.split()
    for other in built_in["prefix"](text):
        assert text.startswith(other)
    for other in built_in["accents"](text):
        assert not any(
            unicodedata.category(char) == "Mn" for char in unicodedata.normalize("NFD", other)
        )
    for other in built_in["unicode"](text):
        assert unicodedata.normalize("NFKC", other) == unicodedata.normalize("NFKC", text)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="unknown perturbation 'typos'; did you mean 'typo'"
    ):
        perturbation_named("typos")
    with pytest.raises(ConfigurationError, match="give one of case, white_space, unicode, accents"):
        perturbation_named("zzz\x1b")


def test_each_perturbation_has_a_description() -> None:
    assert all(one.summary.endswith(".") for one in perturbations().values())
    assert len(perturbations()) == 9
