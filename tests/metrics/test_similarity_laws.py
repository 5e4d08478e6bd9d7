"""Laws of similarities, tried on all pairs of rankings of five documents."""

from __future__ import annotations

import pytest

from pytest_rankcheck import kendall_tau
from pytest_rankcheck.metrics.laws.similarity_laws import PAIR_LAWS, check_similarity
from pytest_rankcheck.metrics.similarity.similarity_registry import Similarity, similarities


@pytest.mark.parametrize("name", similarities())
def test_exactly_the_declared_laws_of_a_similarity_hold(name: str) -> None:
    entry = similarities()[name]
    results = check_similarity(entry)
    assert [str(result) for result in results if result.broken] == []
    assert set(entry.laws) == set(PAIR_LAWS)


def test_kendalls_tau_is_symmetric_and_robust_of_type_two() -> None:
    """Derived in docs/metric-laws.md: each pair's sign is a product of one of each ranking."""
    laws = {result.law: result.holds for result in check_similarity(similarities()["KendallTau"])}
    assert laws["symmetric"] is True
    assert laws["robust_2"] is True
    # Not to be mistaken for swapping the same places in both: that changes it.
    assert kendall_tau(list("abc"), list("acb")) == pytest.approx(1 / 3)
    assert kendall_tau(list("bac"), list("cab")) == pytest.approx(-1)


def asymmetric(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """The place of the first's first document in the second."""
    return 1 / (1 + second.index(first[0]))


def alphabetic(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Whether both have document a where the other has it: ids are looked at."""
    return float(first.index("a") == second.index("a"))


def bottom_up(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """Agreement that weighs the last rank most."""
    agreed = [
        weight for weight, one, two in zip(range(5), first, second, strict=False) if one == two
    ]
    return sum(agreed) / sum(range(min(5, len(first))))


@pytest.mark.parametrize(
    ("function", "law", "says"),
    [
        (
            asymmetric,
            "symmetric",
            "abcde and bcade  scores 0.333333\n    bcade and abcde  scores 0.5",
        ),
        (alphabetic, "robust_2", "a and b are swapped in both rankings"),
        (bottom_up, "sensitive", "the largest change by a swap at rank 1, 2, ... is 0.1, 0.3"),
        (alphabetic, "identity", "two different rankings are as similar as a ranking and itself"),
        (alphabetic, "robust_1", "the swap at rank 1 of the first changes the value by half"),
    ],
)
def test_a_law_that_does_not_hold_is_shown(function: object, law: str, says: str) -> None:
    entry = Similarity("Mine", function, "this test", laws={law: True})  # type: ignore[arg-type]
    result = {one.law: one for one in check_similarity(entry)}[law]
    assert result.broken
    assert says in str(result)
    assert str(result).startswith(f"{law}: declared to hold, but it does not")
