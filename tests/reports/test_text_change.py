"""Two versions of a text: what differs is always visible."""

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_rankcheck.reports.text.answers_text import shown_change


def test_by_hand() -> None:
    for before, after, shown in (
        ("red", "RED", ("red", "RED")),
        ("a b", "a\tb", ("a b", "a\\tb")),
        ("a b", "a\u00a0b", ("a b", "a\\xa0b")),
        ("a b", "a\u3000b", ("a b", "a\\u3000b")),
        ("caf\u00e9", "cafe\u0301", ("caf\\xe9", "cafe\\u0301")),
        ("caf\u00e9", "cafe", ("caf\u00e9", "cafe")),  # people see this
        ("a\u00a0\u00e9", "a\u00a0e\u0301", ("a\\xa0\\xe9", "a\\xa0e\\u0301")),
        ("\ufb01x", "fix", ("\\ufb01x", "fix")),
        ("red", "re\u200bd", ("red", "re\\u200bd")),
        ("red", "\u202ered", ("red", "\\u202ered")),
        ("red", "\x1b[2Jred", ("red", "\\x1b[2Jred")),
        ("red", "red\ud800", ("red", "red\\ud800")),
    ):
        assert shown_change(before, after) == shown
        assert shown_change(after, before) == shown[::-1]


texts = st.text(max_size=20) | st.text("ab \u00e9e\u0301\u0939\u093f\u3067", max_size=20)


@given(start=texts, one=st.text(max_size=30), other=st.text(max_size=30), end=texts)
@example(start="", one="\u00a0", other=" ", end="a" * 100)
def test_any_difference_is_visible_in_one_harmless_line(
    start: str, one: str, other: str, end: str
) -> None:
    before, after = start + one + end, start + other + end
    shown = shown_change(before, after)
    assert all("\n" not in text and "\x1b" not in text for text in shown)
    if before != after:
        assert shown[0] != shown[1]
