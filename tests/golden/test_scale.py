"""The scale of a golden set: kept by its parts, stored in files, checked, fingerprinted."""

from pathlib import Path

import pandas as pd
import pytest

from pytest_rankcheck import GoldenSet, GoldenSetError, Query, Run
from pytest_rankcheck.behaviour.perturbed_answers import reworded
from tests.libraries import forms

GRADES = {"q1": {"a": 4, "b": 0}, "q2": {"c": 1, "d": 0}, "q3": {"e": 2, "f": 1}}
WHOLE = GoldenSet.from_dict(
    GRADES, {"q1": "red", "q2": "blue", "q3": "pink"}, attributes={"q2": {"locale": "de"}}
)
_LINE = '{"query_id": "q", "relevance": {"c": 1, "d": 5}}'
RUN = Run.from_dict({"q1": ["a"], "q2": ["c"], "q3": ["f", "e"]})


def parts() -> list[GoldenSet]:
    return [
        WHOLE.subset(["q2"]),
        WHOLE.subset(locale="de"),
        next(part for part in map(WHOLE.sample, [1] * 9, range(9)) if part.query_ids == ("q2",)),
        reworded(WHOLE, {"q2": Query("q2", "azure")}),
        WHOLE.subset(["q3", "q2"]).subset(["q2"]),
        WHOLE.subset(["q3"]).merge(WHOLE.subset(["q2"])).subset(["q2"]),
        WHOLE.subset(["q2"]).expecting(),
        WHOLE.subset(["q2"]).clustered("locale"),
    ]


@pytest.mark.parametrize("part", parts())
def test_a_part_keeps_the_scale_of_the_whole(part: GoldenSet) -> None:
    assert (part.query_ids, part.scale, part.max_grade) == (("q2",), 4, 1)


def test_merged_parts_have_the_larger_scale() -> None:
    other = GoldenSet.from_dict({"q9": {"z": 1}}, scale=7)
    assert WHOLE.merge(other).scale == other.merge(WHOLE).scale == 7
    assert WHOLE.subset(["q2"]).merge(WHOLE.subset(["q1"])).fingerprint == (
        WHOLE.subset(["q1", "q2"]).fingerprint
    )


def test_the_fingerprint_has_the_scale_only_where_no_judgment_shows_it() -> None:
    low = {"q2": GRADES["q2"]}
    assert GoldenSet.from_dict(GRADES, scale=4).fingerprint == (
        GoldenSet.from_dict(GRADES).fingerprint
    )
    marks = {GoldenSet.from_dict(low, scale=scale).fingerprint for scale in (None, 1, 2, 4)}
    assert len(marks) == 3
    assert GoldenSet.from_dict(low, scale=4).fingerprint == (
        GoldenSet.from_dict(low, scale=4.0).fingerprint
    )
    assert GoldenSet.from_dict(low, scale=4).query_fingerprints == (
        GoldenSet.from_dict(low).query_fingerprints
    )


@pytest.mark.parametrize(
    "name", forms("a.jsonl", "a.jsonl.gz", "a.csv", "a.tsv", "a.parquet", "a.qrels")
)
def test_every_format_keeps_the_scale(tmp_path: Path, name: str) -> None:
    for part in (WHOLE.subset(["q2", "q3"]), GoldenSet.from_dict({"q": {"a": 1}}, scale=2.5)):
        part.save(tmp_path / name)
        again = GoldenSet.load(tmp_path / name)
        assert (again.scale, again.fingerprint) == (part.scale, part.fingerprint)
        assert again.attributes == part.attributes
    WHOLE.save(tmp_path / name)
    assert GoldenSet.load(tmp_path / name).fingerprint == WHOLE.fingerprint


def test_a_scale_can_be_written_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"grade_scale": 3}\n{"query_id": "q", "relevance": {"d": 1}}\n')
    assert GoldenSet.load(file).scale == 3
    assert GoldenSet.load(file, scale=3).scale == 3
    frame = pd.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1], "grade_scale": [3]})
    assert GoldenSet.from_frame(frame).scale == 3
    assert GoldenSet.from_frame(frame[["query_id", "doc_id", "relevance"]], scale=3).scale == 3


def test_an_invalid_scale_is_an_error(tmp_path: Path) -> None:
    for text, scale, message in (
        (_LINE, 4, r"a.jsonl:1: document 'd' has the grade 5, above the scale 4; correct"),
        (f'{{"grade_scale": 3}}\n{_LINE}', None, r"a.jsonl:2: document 'd' has the grade 5"),
        (
            f'{{"grade_scale": 7}}\n{_LINE}',
            8,
            r"a.jsonl:1: the scale is 7, but before it was 8, in the file or as scale= \(rankcheck_scale\)",
        ),
        (f'{{"grade_scale": "big"}}\n{_LINE}', None, r"a.jsonl:1: the scale is 'big' \(str\); it"),
        (_LINE, 0, r"scale=: the scale is '0'"),
        (_LINE, float("inf"), r"scale=: the scale is 'inf'"),
    ):
        file = tmp_path / "a.jsonl"
        file.write_text(text)
        with pytest.raises(GoldenSetError, match=message):
            GoldenSet.load(file, scale=scale)
