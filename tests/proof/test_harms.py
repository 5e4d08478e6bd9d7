"""Each harm does to kept rankings what its name says, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate
from pytest_rankcheck.proof.harms import Harm, harms
from pytest_rankcheck.proof.kept_rankings import KeptRankings

Rankings = dict[str, list[str]]


@pytest.fixture(scope="module")
def kept(measured: Evaluation) -> KeptRankings:
    return KeptRankings(measured)


def harm(kept: KeptRankings, name: str) -> Harm:
    found = {each.name: each for each in harms(kept)}
    return found[name]


def drawn(kept: KeptRankings, name: str) -> tuple[Rankings, Rankings]:
    """Return the rankings that a harm changes, before and after."""
    changed = harm(kept, name).changed(kept.generator(name, 0))
    after = {query: [*docs] for query, docs in changed.items()}
    return {query: [*kept.rankings[query]] for query in after}, after


def answers(query: str) -> list[str]:
    return [f"{query}-{1 + int(query[1:]) % 3}", f"{query}-12"]


def test_the_list_is_closed(kept: KeptRankings) -> None:
    assert [each.name for each in harms(kept)] == [
        "1 of 60 queries lose all their answers",
        "2 of 60 queries lose all their answers",
        "3 of 60 queries lose all their answers",
        "3 of 60 queries find nothing",
        "one of 8 shards lost",
        "one of 32 shards lost",
        "only the top 10 retrieved",
        "the first two places swapped",
        "every place moved by up to 3",
        "a foreign document first for 12 of 60 queries",
        "1 of 60 queries get the answer of another",
        "6 of 60 queries get the answer of another",
        "results 11 to 20 in random order",
        "answers of locale=de halved",
        "answers of typo=no halved",
        "typing errors no longer corrected (typo=yes)",
    ]


def test_lost_answers_are_lost_and_the_rest_moves_up(kept: KeptRankings) -> None:
    before, after = drawn(kept, "3 of 60 queries lose all their answers")
    assert len(after) == 3
    for query, docs in after.items():
        assert docs == [doc for doc in before[query] if doc not in answers(query)]


def test_nothing_is_found(kept: KeptRankings) -> None:
    _, after = drawn(kept, "3 of 60 queries find nothing")
    assert [*after.values()] == [[]] * 3


@pytest.mark.parametrize("shards", [8, 32])
def test_a_shard_is_lost_for_all_queries(kept: KeptRankings, shards: int) -> None:
    before, after = drawn(kept, f"one of {shards} shards lost")
    assert len(after) == 60
    lost = 1 - sum(map(len, after.values())) / sum(map(len, before.values()))
    assert lost == pytest.approx(1 / shards, abs=0.5 / shards)
    for query, docs in after.items():
        assert docs == [doc for doc in before[query] if doc in set(docs)]


def test_other_draws_lose_another_shard(kept: KeptRankings) -> None:
    name = "one of 8 shards lost"
    one, other = (harm(kept, name).changed(kept.generator(name, n)) for n in (0, 1))
    assert one != other


def test_only_the_top_is_retrieved(kept: KeptRankings) -> None:
    before, after = drawn(kept, "only the top 10 retrieved")
    assert after == {query: docs[:10] for query, docs in before.items()}


def test_a_model_that_sorts_candidates_retrieves_them_all(tmp_path: Path) -> None:
    rows = [f"q{q},d{q}-{d},{int(d == 3)},{d}" for q in range(5) for d in range(12)]
    (tmp_path / "set.csv").write_text("\n".join(["query_id,doc_id,relevance,stars", *rows]))
    golden = GoldenSet.load(tmp_path / "set.csv")
    run = Run.from_dict({query: [*golden.grades(query)] for query in golden.query_ids})
    names = [each.name for each in harms(KeptRankings(evaluate(run, golden)))]
    assert "only the top 10 retrieved" not in names
    assert "results 11 to 12 in random order" in names


def test_the_first_two_are_swapped(kept: KeptRankings) -> None:
    before, after = drawn(kept, "the first two places swapped")
    assert after == {query: [docs[1], docs[0], *docs[2:]] for query, docs in before.items()}


def moves(before: Sequence[str], after: Sequence[str]) -> list[int]:
    assert sorted(before) == sorted(after)
    return [after.index(doc) - place for place, doc in enumerate(before)]


def test_places_move_by_up_to_three(kept: KeptRankings) -> None:
    before, after = drawn(kept, "every place moved by up to 3")
    by = [move for query in after for move in moves(before[query], after[query])]
    assert {*by} == {*range(-3, 4)}


def test_a_foreign_document_comes_first(kept: KeptRankings) -> None:
    before, after = drawn(kept, "a foreign document first for 12 of 60 queries")
    assert len(after) == 12
    for query, docs in after.items():
        assert docs == ["a foreign document", *before[query][:19]]


def test_queries_get_the_answer_of_another(kept: KeptRankings) -> None:
    before, after = drawn(kept, "6 of 60 queries get the answer of another")
    assert len(after) == 6
    for query, docs in after.items():
        assert docs != before[query]
        assert docs in map(list, kept.rankings.values())


def test_the_rest_is_in_random_order(kept: KeptRankings) -> None:
    before, after = drawn(kept, "results 11 to 20 in random order")
    for query, docs in after.items():
        assert docs[:10] == before[query][:10]
        assert docs[10:] != before[query][10:]
        assert sorted(docs) == sorted(before[query])


def test_answers_of_the_slice_that_is_harmed_most_are_halved(kept: KeptRankings) -> None:
    before, after = drawn(kept, "answers of locale=de halved")
    assert [*after] == kept.golden.slices("locale")["de"]
    kept = [doc for query, docs in after.items() for doc in answers(query) if doc in docs]
    assert 0.3 < len(kept) / (2 * len(after)) < 0.7
    for query, docs in after.items():
        assert [d for d in docs if d not in answers(query)] == [
            d for d in before[query] if d not in answers(query)
        ]


def test_misspelt_queries_find_nothing(kept: KeptRankings) -> None:
    _, after = drawn(kept, "typing errors no longer corrected (typo=yes)")
    assert after == {f"q{number}": [] for number in range(0, 60, 10)}


def test_queries_that_are_spelt_correctly_are_not_misspelt() -> None:
    of_each = {f"q{n}": {"spelling": "wrong" if n < 5 else "correct"} for n in range(20)}
    golden = GoldenSet.from_dict({query: {"d": 1} for query in of_each}, attributes=of_each)
    answered = evaluate(Run.from_dict({query: ["d", "e"] for query in of_each}), golden)
    named = [each.name for each in harms(KeptRankings(answered)) if "typing" in each.name]
    assert named == ["typing errors no longer corrected (spelling=wrong)"]


def test_ids_may_have_what_cannot_be_encoded() -> None:
    """Lone surrogates, which JSON allows."""
    judged = {f"q{number}": {f"d{number} \ud800": 1} for number in range(12)}
    attributes = {query: {"kind": "\udfff" if query > "q5" else "a"} for query in judged}
    golden = GoldenSet.from_dict(judged, attributes=attributes)
    kept = KeptRankings(evaluate(Run.from_dict({q: [*docs] for q, docs in judged.items()}), golden))
    for each in harms(kept):
        _ = drawn(kept, each.name)


def test_no_harm_is_drawn_twice_where_chance_has_no_part(kept: KeptRankings) -> None:
    for each in harms(kept):
        draws = [each.changed(kept.generator(each.name, number)) for number in range(12)]
        is_drawn = any(draw != draws[0] for draw in draws)
        assert each.draws == (12 if is_drawn else 1), each.name
