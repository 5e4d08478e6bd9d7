"""The names of changes in the file of a record: each is read as it was written."""

import pytest

from pytest_rankcheck.baselines.change import KINDS, Change

FALL = "fall:RR[locale=de]"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (Change("fall", "RR", slice=("locale", "de")), FALL),
        (Change("fall", "nDCG(gain='a[b]')@10"), "fall:nDCG(gain='a[b]')@10"),
        (
            Change("fall", "Alpha(by='x[1]=2')@5", slice=("lang", "de]")),
            "fall:Alpha(by='x[1]=2')@5[lang=de]]",
        ),
        (Change("fall", "RR", slice=("lang[0]", "de")), "fall:RR[lang[0]=de]"),
        (Change("fall", "RR", slice=("a=b", "c=d")), 'fall:RR["a=b"=c=d]'),
        (Change("fall", "RR", slice=('say "hi"', "")), 'fall:RR["say \\"hi\\""=]'),
        (Change("slice-gone", "lang[0]"), "slice-gone:lang[0]"),
        (Change("slice-gone", "a=b"), "slice-gone:a=b"),
        (Change("option-looser", "failures"), "option-looser:failures"),
        (Change("depth"), "depth"),
    ],
)
def test_a_name_is_read_as_it_was_written(change: Change, name: str) -> None:
    assert change.name == name
    assert Change.from_dict(name, change.to_dict()) == change


def test_every_kind_has_words() -> None:
    for kind in KINDS:
        text = Change(kind, "RR", 1.0, 0.5, slice=("a=b", "c") if kind == "fall" else None).text
        assert text
        assert "{" not in text
    assert Change("slice-gone", "lang[0]").text == "the slices of lang[0] are no longer gated"
