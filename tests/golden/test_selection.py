"""Subsets, samples and merges of golden sets."""

from pathlib import Path

import pytest

from pytest_rankcheck import Expectation, GoldenSet, GoldenSetError

GOLDEN = GoldenSet.from_dict(
    {f"q{i}": {f"d{i}": 1, "d": i % 3} for i in range(12)},
    {f"q{i}": f"text {i}" for i in range(12)},
    attributes={f"q{i}": {"locale": "de" if i % 4 else "en", "new": i > 5} for i in range(12)},
    name="web",
)


def test_a_subset_by_ids_and_by_attributes() -> None:
    part = GOLDEN.subset(["q3", "q1"])
    assert part.query_ids == ("q1", "q3")  # in the set's own order
    assert part.query("q3") == GOLDEN.query("q3")
    assert part.grades("q3") == GOLDEN.grades("q3")
    assert part.name == "web"
    assert GOLDEN.subset(locale="en").query_ids == ("q0", "q4", "q8")
    assert GOLDEN.subset(locale="en", new=True, name="new").query_ids == ("q8",)
    assert GOLDEN.subset(["q0", "q1"], locale="en").query_ids == ("q0",)


def test_an_invalid_subset_is_refused() -> None:
    for ids, attributes, message in (
        (["q1", "q99"], {}, "golden set 'web' has no query q99; did you mean 'q9'"),
        (None, {"locale": "fr"}, "no query of golden set 'web' is chosen: none has locale=fr"),
        (["q1"], {"locale": "en"}, "is chosen: none has locale=en"),
        (None, {"local": "de"}, "no attribute 'local'; did you mean 'locale'"),
        ([], {}, "no query of golden set 'web' is chosen: the list of ids is empty"),
        (iter(()), {}, "the list of ids is empty"),
    ):
        with pytest.raises(GoldenSetError, match=message):
            GOLDEN.subset(ids, **attributes)  # type: ignore[arg-type]


def test_fingerprints_follow_the_content() -> None:
    assert GOLDEN.subset(GOLDEN.query_ids).fingerprint == GOLDEN.fingerprint
    part = GOLDEN.subset(["q1"])
    assert part.fingerprint != GOLDEN.fingerprint
    assert part.query_fingerprints["q1"] == GOLDEN.query_fingerprints["q1"]
    halves = [GOLDEN.subset(GOLDEN.query_ids[:5]), GOLDEN.subset(GOLDEN.query_ids[5:])]
    assert halves[1].merge(halves[0]).fingerprint == GOLDEN.fingerprint


def test_a_sample_depends_on_the_seed_and_not_on_the_order() -> None:
    drawn = GOLDEN.sample(4, seed=7)
    assert len(drawn) == 4
    assert GOLDEN.sample(4, seed=7).query_ids == drawn.query_ids
    backwards = GOLDEN.subset().merge().subset(reversed(GOLDEN.query_ids))
    assert set(backwards.sample(4, seed=7).query_ids) == set(drawn.query_ids)
    assert {GOLDEN.sample(4, seed=seed).query_ids for seed in range(20)} != {drawn.query_ids}
    # sha256("0 q0") ... of the twelve ids, computed with another tool (sha256sum)
    assert GOLDEN.sample(2).query_ids == ("q2", "q6")
    for count in (0, 13):
        with pytest.raises(GoldenSetError, match=f"cannot draw {count} queries from the"):
            GOLDEN.sample(count)


def test_a_merge_unites_judgments_attributes_and_texts() -> None:
    one = GoldenSet.from_dict({"q": {"a": 1}}, attributes={"q": {"locale": "de"}})
    other = GoldenSet.from_dict(
        {"q": {"a": 1, "b": 2}, "r": {"c": 1}}, {"q": "shoes"}, attributes={"q": {"style": "x"}}
    )
    whole = one.merge(other, name="all")
    assert whole.name == "all"
    assert whole.grades("q") == {"a": 1, "b": 2}
    assert whole.query("q").text == "shoes"
    assert whole.query("q").attributes == {"locale": "de", "style": "x"}
    assert whole.query_ids == ("q", "r")
    assert one.grades("q") == {"a": 1}  # the parts stay as they are


def test_a_contradictory_merge_reports_the_place(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q 0 d 1\nr 0 d 1\n")
    (tmp_path / "b.qrels").write_text("q 0 e 1\nq 0 d 2\nr 0 d 1\n")
    one, other = (GoldenSet.load(tmp_path / name) for name in ("a.qrels", "b.qrels"))
    with pytest.raises(GoldenSetError, match=r"a\.qrels:1: document 'd' .* judged twice, 1 and 2"):
        one.merge(other)
    merged = one.merge(other, contradictions="highest")
    assert merged.grades("q") == {"d": 2, "e": 1}
    texts = [GoldenSet.from_dict({"q": {"d": 1}}, {"q": text}) for text in ("red", "blue")]
    with pytest.raises(GoldenSetError, match='query \'q\' is "blue", but before it was "red"'):
        texts[0].merge(texts[1])


def test_a_merge_keeps_what_the_linter_needs(tmp_path: Path) -> None:
    """Codes, mapped ids, expectations, and the catalogue with the names of its columns."""
    rows = "".join(f"q{n % 4},D{n // 2},{'good' if n % 3 else 'bad'}\n" for n in range(24))
    file, corpus = tmp_path / "g.csv", tmp_path / "corpus.csv"
    file.write_text(f"search,sku,label\n{rows}q1,D0,bad\n", "utf-8")
    corpus.write_text("sku\n" + "".join(f"d{n}\n" for n in range(9)), "utf-8")
    whole = GoldenSet.load(
        file,
        columns={"query_id": "search", "doc_id": "sku", "relevance": "label"},
        grades={"good": 2, "bad": 1},
        contradictions="highest",
        doc_id="lower",
    ).expecting(Expectation.not_in_top(3, "d2", query="q1"), Expectation.in_top(3, "x", query="q0"))
    merged = whole.subset(["q0", "q1"]).merge(whole.subset(["q2", "q3"]))
    found, again = (golden.lint(documents=corpus) for golden in (whole, merged))
    found = [each for each in found if each.rule != "contradictory-judgment"]
    found = [each for each in found if each.rule != "repeated-judgment"]  # each counts once
    assert [(each.rule, each.what) for each in again] == [(each.rule, each.what) for each in found]
    rules = {"not-in-corpus", "few-queries"}
    assert rules <= {each.rule for each in found}


def test_subsets_keep_candidates_and_titles_and_only_one_set_of_a_merge_has_candidates(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.csv").write_text(
        "query_id,doc_id,grade,title,f\nq1,a,1,A,1\nq1,b,0,B,2\nq2,a,1,A,3\nq2,c,0,C,4\n"
    )
    golden = GoldenSet.load(tmp_path / "a.csv")
    part = golden.subset(["q2"])
    assert list(part.candidates["f"]) == [3, 4]
    assert part.title("c") == "C"
    whole = GoldenSet.from_dict({"q3": {"d": 1}}).merge(part)
    assert list(whole.candidates["f"]) == [3, 4]
    with pytest.raises(GoldenSetError, match="several of the golden sets have candidates with"):
        part.merge(golden.subset(["q1"]))
