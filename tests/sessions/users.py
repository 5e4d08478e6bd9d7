"""Simulated logs of users who have several sessions, and differ in how often they succeed."""

import numpy as np
import pandas as pd

RATE = 0.62


def users_log(
    users: int, *, seed: int, week: str = "w1", users_seed: int = 0, fall: float = 0.0
) -> pd.DataFrame:
    """Return a log with one event per session: ``selected`` is empty where a user failed.

    Users have lognormal numbers of sessions and differ a lot: the design effect is about 10.

    Args:
        users: how many users there are.
        seed: of what happens in the sessions.
        week: the prefix of session ids.
        users_seed: of the users; the same for logs of the same users.
        fall: how far the rate of success falls.
    """
    people, random = np.random.default_rng(users_seed), np.random.default_rng(seed)
    drawn = np.round(people.lognormal(1.0, 1.2, users)).astype(int)
    sizes, rates = np.maximum(1, drawn), people.beta(1.5 * RATE, 1.5 * (1 - RATE), users)
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
