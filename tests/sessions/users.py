"""Simulated logs of users who have several sessions, and differ in how often they succeed."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

__all__ = ["Spread", "users_log"]

Spread = Literal["independent", "mild", "heavy"]
RATE = 0.62


def users_log(
    users: int,
    spread: Spread,
    *,
    seed: int,
    week: str = "w1",
    users_seed: int = 0,
    fall: float = 0.0,
) -> pd.DataFrame:
    """Return a log with one event per session: ``selected`` is empty where a user failed.

    Args:
        users: how many users there are.
        spread: one session per user; one to five sessions; or lognormal numbers of sessions of
            users who differ a lot, with a design effect of about 10.
        seed: of what happens in the sessions.
        week: the prefix of session ids.
        users_seed: of the users; the same for logs of the same users.
        fall: how far the rate of success falls.
    """
    people, random = np.random.default_rng(users_seed), np.random.default_rng(seed)
    sizes, rates = np.ones(users, dtype=int), np.full(users, RATE)
    if spread == "mild":
        sizes, rates = 1 + people.poisson(1.0, users), people.beta(*_shape(0.15), users)
    elif spread == "heavy":
        drawn = np.round(people.lognormal(1.0, 1.2, users)).astype(int)
        sizes, rates = np.maximum(1, drawn), people.beta(*_shape(0.4), users)
    devices = people.choice(["mobile", "desktop"], users)
    who = np.repeat(np.arange(users), sizes)
    is_success = random.random(len(who)) < rates[who] * (1 - fall / RATE)
    return pd.DataFrame(
        {
            "session_id": [f"{week}-{number}" for number in range(len(who))],
            "event": 1,
            "query": "shoes",
            "results": "a b c",
            "selected": np.where(is_success, "a", None),
            "user": [f"user-{number}" for number in who],
            "device": devices[who],
            "session_number": np.arange(len(who)),
        }
    )


def _shape(correlation: float) -> tuple[float, float]:
    """Return the parameters of the beta distribution of users' rates."""
    size = 1 / correlation - 1
    return RATE * size, (1 - RATE) * size
