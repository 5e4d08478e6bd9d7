"""The perturbations that are built in: by hand, and what holds of all of them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, perturbations
from pytest_rankcheck.behaviour.perturbations import perturbation_named

# Each line: the perturbation, a text, and the texts that are made of it.
BY_HAND = r"""
case | Red shoes | red shoes | RED SHOES | Red Shoes
case | 42
case | straße | STRASSE | Straße
word_order | red
word_order | a a
word_order | a b c | c b a | c a b | b c a
word_order | 27" monitor stand | stand monitor 27" | stand 27" monitor | monitor stand 27"
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


def test_by_hand() -> None:
    table = [line.split(" | ") for line in BY_HAND.strip().splitlines()]
    table += [
        ["white_space", "red", "  red "],
        ["white_space", "a b", "  a b ", "a  b", "a\tb", "a\u00a0b"],
    ]
    for name, text, *expected in table:
        assert perturbations()[name](text) == expected, (name, text)


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


def test_words_that_are_not_typed_on_qwerty_have_no_typo() -> None:
    typo = perturbations()["typo"].drawn(20)
    for text in ("東京の天気", "데이터", "Москва погода", "Ελλάδα", "שלום עולם", "हिन्दी फिल्में"):
        assert typo(text) == []
        for made in typo(f"{text} shoes {text}"):
            assert made.startswith(f"{text} s")
            assert made.endswith(f" {text}")


def test_a_typo_does_not_tear_a_letter_from_its_mark_or_from_another_script() -> None:
    typo = perturbations()["typo"].drawn(200)
    assert typo("re\u0301sumer") == []
    made = typo("手机iphone套")
    assert len(made) > 20
    assert all(text.startswith("手机i") and text.endswith("套") for text in made)
    made = typo("café")
    assert {"cfaé", "caé", "caéf", "caféé", "caf"} <= set(made)
    assert not any(len(text) == 4 and text.startswith("caf") for text in made)  # no key beside é


def test_several_typos_of_a_text_are_different_and_begin_with_the_single_one() -> None:
    typo = perturbations()["typo"]
    five = typo.drawn(5)("running shoes", seed=3)
    assert len(set(five)) == 5
    assert five[:1] == typo("running shoes", seed=3)
    assert typo.drawn(3)("running shoes", seed=3) == five[:3]
    assert perturbation_named("typo(samples=5)")("running shoes", seed=3) == five
    assert str(perturbation_named("typo(samples=5)")) == "typo(samples=5)"
    assert len(typo.drawn(1000)("abcd")) < 60  # a short word has few
    assert typo.drawn(5)("42") == []


def test_an_unknown_name_or_parameter_is_refused() -> None:
    for text, message in {
        "typo(sample=5)": "'typo' has no parameter 'sample'; did you mean 'samples'",
        "typo(samples=0)": "samples=0 is invalid; give a whole number from 1 on",
        "typo(samples=true)": "samples=True is invalid",
        "case(samples=3)": "'case' takes no samples, because it is not random",
        "typo@5": "unknown perturbation 'typo@5'; did you mean 'typo'",
        "typo samples=5": "unknown perturbation 'typo samples=5'; give one of case, white_space",
    }.items():
        with pytest.raises(ConfigurationError, match=message):
            perturbation_named(text)


texts = st.text(max_size=30) | st.text("aé .?ßİsSё\u0301日で\u3099", max_size=12)


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
