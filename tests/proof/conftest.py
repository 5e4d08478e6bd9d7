"""A shop of sixty questions, each with two answers near the top of twenty results."""

import pytest

from pytest_rankcheck import Evaluation, GoldenSet, Run, evaluate


def shop(queries: int = 60) -> Evaluation:
    """Return an evaluation whose answers are on the places 1 to 3 and 12."""
    grades, rankings, attributes = {}, {}, {}
    for number in range(queries):
        query = f"q{number}"
        docs = [f"{query}-{place}" for place in range(1, 21)]
        grades[query] = {docs[number % 3]: 2, docs[11]: 1}
        rankings[query] = docs
        attributes[query] = {
            "locale": "de" if number % 2 else "en",
            "typo": "yes" if number % 10 == 0 else "no",
        }
    golden = GoldenSet.from_dict(grades, attributes=attributes, name="shop")
    return evaluate(Run.from_dict(rankings, depth=20), golden)


@pytest.fixture(scope="session")
def measured() -> Evaluation:
    """The shop, measured."""
    return shop()
