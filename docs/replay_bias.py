"""Draw the manual's plot of naive and corrected replays, on simulated logs with a known true value.

python docs/replay_bias.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import altair as alt
import pandas as pd

from pytest_rankcheck import evaluate

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent / "tests" / "sessions"))

from simulated import simulate  # noqa: E402 - the tests check the same numbers

SEARCHES = (400, 1600, 6400, 25600)
SEED = 11


def rows() -> pd.DataFrame:
    """Return the estimate and the interval of both replays, for logs of several sizes."""
    estimates = []
    for searches in SEARCHES:
        simulation = simulate(searches, SEED)
        for name, propensity in (("naive", None), ("corrected: power(1)", "power(1)")):
            golden = simulation.log.to_golden_set(propensity=propensity)
            evaluation = evaluate(simulation.run(golden), golden)
            low, high = evaluation.interval("RR")
            estimates.append(
                {
                    "searches": f"{searches:,}",
                    "replay": name,
                    "RR": evaluation.mean("RR"),
                    "low": low,
                    "high": high,
                    "truth": simulation.truth,
                }
            )
    return pd.DataFrame(estimates)


def chart(frame: pd.DataFrame) -> alt.LayerChart:
    """Return the plot: intervals by size of the log, and the truth as a tick."""
    order = [f"{searches:,}" for searches in SEARCHES]
    x = alt.X("searches:N", sort=order, title="searches in the log", axis=alt.Axis(labelAngle=0))
    of_replay = {
        "xOffset": alt.XOffset("replay:N"),
        "color": alt.Color(
            "replay:N", title="replay", scale=alt.Scale(range=["#1a6faf", "#c2571a"])
        ),
    }
    base = alt.Chart(frame)
    y = alt.Y("low:Q", title="mean RR of the new ranker", scale=alt.Scale(zero=False))
    intervals = base.mark_rule(strokeWidth=3).encode(x=x, y=y, y2="high:Q", **of_replay)
    means = base.mark_point(filled=True, size=60).encode(x=x, y="RR:Q", **of_replay)
    truth = base.mark_tick(thickness=2, color="black", width=70).encode(x=x, y="truth:Q")
    layered = alt.layer(truth, intervals, means).properties(width=520, height=260)
    layered.title = "95% intervals of the replays; the black line is the truth"
    return layered


if __name__ == "__main__":
    chart(rows()).save(ROOT / "images" / "replay-bias.png", scale_factor=2)
