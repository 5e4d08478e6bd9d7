"""The perturbations that are built in: by hand, and what holds of all of them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck import ConfigurationError, perturbations
from pytest_rankcheck.behaviour.keyboard_slips import _neighbours
from pytest_rankcheck.behaviour.perturbations import perturbation_named

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
        ("accents", "できる", []),  # で is another letter than て
        ("accents", "ﾃﾞｰﾀ カ\u3099ス", []),
        ("accents", "हिन्दी", []),  # vowels are marks
        ("accents", "สวัสดี", []),
        ("accents", "שָׁלוֹם", []),
        ("accents", "❤\ufe0f 5\u20e3", []),  # signs, not letters
        ("accents", "Café हिन्दी で", ["Cafe हिन्दी で"]),
        ("accents", "\u0958 é", ["\u0958 e"]),  # which NFC would take apart
        ("accents", "Ελλάδα ᾧ", ["Ελλαδα ω"]),
        ("accents", "ёлка чай Йод", ["елка чай Йод"]),  # й has a key of its own
        ("accents", "Їжак Київ ўлада ќерка", []),
        ("accents", "за\u0301мок чаи\u0306", ["замок чаи\u0306"]),
        ("accents", "и\u0306\u0301", ["и\u0306"]),
        ("accents", "Tiếng Việt đ", ["Tieng Viet đ"]),
        ("umlauts", "Kühlschrank für Süßes", ["Kuehlschrank fuer Suesses"]),
        ("umlauts", "Ärger ÄRGER Ä", ["Aerger AERGER Ae"]),
        ("umlauts", "GRÖSSE STRAẞE", ["GROESSE STRASSE"]),
        ("umlauts", "u\u0308ber O\u0308l", ["ueber Oel"]),
        ("umlauts", "Michael neue Masse", []),  # no way back: Michael has no ä
        ("umlauts", "naïve Ångström", ["naïve Angstroem".replace("A", "Å", 1)]),
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
        ("plural", "latest news", []),
        ("plural", "SERIES", []),
        ("plural", "Species", []),
        ("plural", "jeans", []),
        ("plural", "fluid dynamics", []),
        ("plural", "aircraft", []),
        ("plural", "viscous", []),
        ("plural", "tennis", []),
        ("plural", "chess", []),
        ("plural", "headphones wireless", []),
        ("plural", "red AND", []),
        ("plural", "shoes -red", []),
        ("plural", "cats NOT dog", []),
        ("plural", "shoes colour:red", []),
        ("plural", "t-shirt", ["t-shirts"]),
        ("plural", "socks & shoe", ["socks & shoes"]),
        ("plural", "Child", ["Children"]),
        ("plural", "CHILDREN", ["CHILD"]),
        ("plural", "People", ["Person"]),
        ("plural", "buses", ["bus"]),
        ("plural", "lens", ["lenses"]),
        ("plural", "movies", ["movie"]),
        ("plural", "iPhones", ["iPhone"]),
        ("plural", "meta analysis", ["meta analyses"]),
        ("plural", "oasis", ["oases"]),
        ("plural", "topics", ["topic"]),
        ("plural", "éclairs", ["éclair"]),
        ("plural", "os", []),
        ("word_order", "red", []),
        ("word_order", "red shoes", ["shoes red"]),
        ("word_order", "a b c", ["c b a", "c a b", "b c a"]),
        ("word_order", "a a", []),
        ("word_order", '"new york" hotels', ['hotels "new york"']),
        ("word_order", "“new york” hotels", ["hotels “new york”"]),
        ("word_order", 'cheap -"new york" hotels', ['hotels -"new york" cheap']),
        (
            "word_order",
            '27" monitor stand',
            ['stand monitor 27"', 'stand 27" monitor', 'monitor stand 27"'],
        ),
        ("word_order", "cats AND dogs", []),
        ("word_order", "cats NOT dogs food", ["food NOT dogs cats"]),
        ("word_order", "cheap red OR blue shoes", ["shoes red OR blue cheap"]),
        (
            "word_order",
            "salt and pepper",
            ["pepper and salt", "pepper salt and", "and pepper salt"],
        ),
        (
            "word_order",
            "jaguar -car site:wikipedia.org speed",
            ["speed -car site:wikipedia.org jaguar"],
        ),
        ("word_order", "+red shoes", []),
        ("word_order", "shoes & socks", []),
        ("word_order", "cheap red & blue shoes", ["shoes red & blue cheap"]),
        ("word_order", "👟 shoes", ["shoes 👟"]),
        ("word_order", "title:(red shoes) b c", ["title:(red shoes) c b"]),
        ("word_order", "year:[2010 TO 2020] b c", ["year:[2010 TO 2020] c b"]),
        ("word_order", "(a OR (b c)) d e", ["(a OR (b c)) e d"]),
        ("word_order", "(((a b)) c) d e", []),  # nested too deeply to be sure
        ("word_order", "(a b c", []),
        ("word_order", '"a b c', ['c b "a', 'c "a b', 'b c "a']),
        ("word_order", "Mission: Impossible", ["Impossible Mission:"]),
        ("word_order", "שלום עולם", ["עולם שלום"]),
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


@pytest.mark.parametrize(
    "text",
    [
        "東京の天気",
        "データベース",
        "한국어사전",
        "Москва погода",
        "Ελλάδα",
        "שלום עולם",
        "हिन्दी फिल्में",
    ],
)
def test_words_that_are_not_typed_on_qwerty_have_no_typo(text: str) -> None:
    typo = perturbations()["typo"].drawn(20)
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("typo(sample=5)", "'typo' has no parameter 'sample'; did you mean 'samples'"),
        ("typo(samples=0)", "samples=0 is invalid; give a whole number from 1 on"),
        ("typo(samples=2.5)", "samples=2.5 is invalid"),
        ("typo(samples=true)", "samples=True is invalid"),
        ("case(samples=3)", "'case' takes no samples, because it is not random"),
        ("case(x=3)", "'case' has no parameter 'x'$"),
        ("typo(5)", r"unknown perturbation 'typo\(5\)'"),
        ("typo@5", "unknown perturbation 'typo@5'; did you mean 'typo'"),
        ("typo samples=5", "unknown perturbation 'typo samples=5'; give one of"),
    ],
)
def test_an_invalid_parameter_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        perturbation_named(text)


def test_keys_touch_each_other_both_ways() -> None:
    near = _neighbours()
    assert set(near["g"]) == set("fhtyvb")
    assert set(near["a"]) == set("sqwz")
    assert set(near["p"]) == set("ol")
    assert set(near["m"]) == set("njk")
    for key, others in near.items():
        assert all(key in near[other] for other in others), key


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


def bare(text: str) -> str:
    """Return a text without the marks that follow a Latin, Greek or Cyrillic letter.

    The generated texts have no Cyrillic letters with a key of their own, except by chance.
    """
    kept, base = [], ""
    for char in unicodedata.normalize("NFD", text):
        is_mark = unicodedata.category(char) == "Mn"
        base = base if is_mark else char
        has_accents = unicodedata.name(base or "-", "").startswith(("LATIN", "GREEK", "CYRILLIC"))
        if not (is_mark and has_accents and base.isalpha()):
            kept.append(char)
    return "".join(kept)


@given(
    text=texts.filter(lambda text: not set("йўїѓќЙЎЇЃЌ") & set(unicodedata.normalize("NFC", text)))
)
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
        assert unicodedata.normalize("NFC", other) == unicodedata.normalize("NFC", bare(text))
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
    assert len(perturbations()) == 10
