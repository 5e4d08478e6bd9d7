"""The perturbations that are built in: by hand, and what holds of all of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError
from pytest_rankcheck.behaviour.changed_queries import BUILT_IN, built_in

# Each line: the perturbation, a text, and the texts that are made of it.
BY_HAND = r"""
case | Red shoes | red shoes | RED SHOES | Red Shoes
case | 42
case | straße | STRASSE | Straße
word_order | red
word_order | a a
word_order | a b c | c b a | c a b | b c a
word_order | 27" monitor stand
word_order | salt and pepper | pepper and salt | pepper salt and | and pepper salt
word_order | 👟 shoes | shoes 👟
word_order | Mission: Impossible | Impossible Mission:
word_order | שלום עולם | עולם שלום
word_order | "new york" hotels
word_order | cheap red OR blue shoes
word_order | jaguar -car speed
word_order | shoes & socks
word_order | (red shoes) b c
"""


def made_by(name: str, text: str, seed: int = 0) -> list[str]:
    return list(dict.fromkeys(built_in(name, seed)(text)))


def typos(text: str, seeds: int) -> set[str]:
    return {other for seed in range(seeds) for other in made_by("typo", text, seed)}


def test_by_hand() -> None:
    table = [line.split(" | ") for line in BY_HAND.strip().splitlines()]
    table += [
        ["white_space", "red", "  red "],
        ["white_space", "a b", "  a b ", "a  b", "a\tb", "a\u00a0b"],
    ]
    for name, text, *expected in table:
        assert [each for each in made_by(name, text) if each != text] == expected, (name, text)


def test_a_typo_is_one_slip_in_a_long_word_and_not_in_its_first_letter() -> None:
    made = typos("big shoes", 3000)
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
    assert len(typos("running shoes", 20)) > 5
    # Recorded once: it must stay the same in every version of Python.
    assert [made_by("typo", "running shoes", seed) for seed in range(4)] == [
        ["rnuning shoes"],
        ["running shoe"],
        ["running shoss"],
        ["running shooes"],
    ]
    for text in ("big cat", "123456", ""):
        assert not typos(text, 3)


def test_words_that_are_not_typed_on_qwerty_have_no_typo() -> None:
    for text in ("東京の天気", "데이터", "Москва погода", "Ελλάδα", "שלום עולם", "हिन्दी फिल्में"):
        assert not typos(text, 3)
        for made in typos(f"{text} shoes {text}", 20):
            assert made.startswith(f"{text} s")
            assert made.endswith(f" {text}")


def test_a_typo_does_not_tear_a_letter_from_its_mark_or_from_another_script() -> None:
    assert not typos("re\u0301sumer", 9)
    made = typos("手机iphone套", 200)
    assert len(made) > 20
    assert all(text.startswith("手机i") and text.endswith("套") for text in made)
    made = typos("café", 200)
    assert {"cfaé", "caé", "caéf", "caféé", "caf"} <= made
    assert not any(len(text) == 4 and text.startswith("caf") for text in made)  # no key beside é


def test_an_unknown_name_is_refused() -> None:
    for text, message in {
        "typos": "unknown perturbation 'typos'; did you mean 'typo'",
        "accents": "unknown perturbation 'accents'; give one of case, white_space",
    }.items():
        with pytest.raises(ConfigurationError, match=message):
            built_in(text, 0)


texts = st.text(max_size=30) | st.text("aé .?ßİsSё\u0301日で\u3099", max_size=12)


@pytest.mark.parametrize("name", BUILT_IN)
@given(text=texts, seed=st.integers(0, 50))
@example(text="\u0301\u0301 \u0130stanbul", seed=0)
@example(text="ﬃ\x00\ud800", seed=1)
def test_all_return_the_same_texts_again(name: str, text: str, seed: int) -> None:
    assert made_by(name, text, seed) == made_by(name, text, seed)
    assert name != "typo" or text not in made_by(name, text, seed)


@given(text=texts)
def test_each_perturbation_changes_only_what_it_describes(text: str) -> None:
    """Each changes what it says and nothing else."""
    for other in made_by("word_order", text):
        assert sorted(other.split()) == sorted(text.split())
    for other in made_by("white_space", text):
        assert other.split() == text.split()
