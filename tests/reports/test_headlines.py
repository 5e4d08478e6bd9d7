"""The first line of a verdict: what fell, and what the fall was held against."""

import pytest

from pytest_rankcheck import Gate, GoldenSet, Run, assert_not_regressed, evaluate
from pytest_rankcheck.reports.text.wording import change, number_text

QUERIES = [f"q{number:02}" for number in range(40)]
GOLDEN = GoldenSet.from_dict({query_id: {"good": 1} for query_id in QUERIES}, name="web")


@pytest.mark.parametrize(
    ("gate", "fallen", "end"),
    [
        (None, 1, "0.9875, -0.0125; allowed no fall"),
        (Gate.tolerance(abs=0.01), 1, "0.9875, -0.0125; allowed -0.0100"),
        # Ten equal falls: the mid-p is 1/2048.
        (Gate.significant(), 10, "0.8750, -0.1250; CHANCE (p = 0.0005, alpha 0.05)"),
        (
            Gate.significant(alpha=0.01, min_drop=0.1),
            10,
            "0.8750, -0.1250; CHANCE (p = 0.0005, alpha 0.01)",
        ),
        (
            Gate.noninferior(margin=0.02),
            10,
            "0.8750, -0.1250; CHANCE, and a fall of 0.0200 is not ruled out (p = 0.0005, alpha 0.05)",
        ),
    ],
    ids=str,
)
def test_the_headline_says_what_would_have_failed(gate: Gate | None, fallen: int, end: str) -> None:
    best = {query_id: ["good", "other"] for query_id in QUERIES}
    worse = {**best, **{query_id: ["other", "good"] for query_id in QUERIES[:fallen]}}
    now, before = (evaluate(Run.from_dict(run), GOLDEN) for run in (worse, best))
    with pytest.raises(AssertionError) as failure:
        assert_not_regressed(now, before, "RR", gate=gate)
    end = end.replace("CHANCE", "more than chance explains")
    assert (
        str(failure.value).partition("\n")[0]
        == f"RR regressed on golden set 'web' (40 queries): 1.0000 -> {end}"
    )


def test_a_limit_that_the_headline_names_is_not_repeated() -> None:
    golden = GoldenSet.from_dict(
        {query_id: {"good": 1} for query_id in QUERIES},
        attributes={query_id: {"half": "ab"[at // 20]} for at, query_id in enumerate(QUERIES)},
        name="web",
    )
    best = {query_id: ["good", "other"] for query_id in QUERIES}
    worse = {**best, **{query_id: ["other", "good"] for query_id in QUERIES[:10]}}
    now, before = (evaluate(Run.from_dict(run), golden) for run in (worse, best))
    drop = "RR of 10 queries fell by more than max_query_drop=0.4"
    gap = "RR of half=a and half=b is 0.2500 apart (0.0000 in the baseline), allowed 0.2000"
    for limits, start in (
        ({"max_query_drop": 0.4}, f"{drop} on golden set 'web' (40 queries); RR 1.0000 -> "),
        ({"max_gap": 0.2}, f"{gap} in half=a of golden set 'web' (20 queries); RR "),
        ({"max_query_drop": 0.4, "max_gap": 0.2}, f"{drop}; {gap} "),
    ):
        gate = Gate.tolerance(abs=0.5, min_queries=1, **limits)
        with pytest.raises(AssertionError) as failure:
            assert_not_regressed(now, before, "RR", gate=gate, by="half")
        headline, *text = str(failure.value).splitlines()
        assert headline.startswith(start)
        assert not [line for line in text if drop in line or gap in line]


def test_a_headline_rounds_as_reports_do_that_have_six_decimals() -> None:
    value = 0.60035 - 1e-10
    assert number_text(value) == f"{round(value, 6):.4f}" != f"{value:.4f}"
    assert change(-value) == f"{round(-value, 6):+.4f}"
    assert change(-1e-9) == "+0.0000"
    assert change(1e-6) == "+0.000001"
