"""The ranker under test is the endpoint, called over HTTP."""

import os

import pytest
from search.engine import Engine
from search.server import serving

from pytest_rankcheck import rankers


def pytest_addoption(parser):
    """Add an option to try weights of titles: ``pytest --title-weight 0``."""
    parser.addoption("--title-weight", type=float, default=2.0)


@pytest.fixture(scope="session")
def ranker(pytestconfig):
    """The endpoint; in a real repository it runs elsewhere and this is one line."""
    os.environ.setdefault("SEARCH_TOKEN", "for-tests-only")
    engine = Engine(title_weight=pytestconfig.option.title_weight)
    with serving(engine, os.environ["SEARCH_TOKEN"]) as url:
        yield rankers.http(
            url,
            body={"query": "{query}", "size": "{depth}"},
            ids="hits.hits[]._id",
            headers={"Authorization": "Bearer ${SEARCH_TOKEN}"},
        )
