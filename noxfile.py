"""The matrix: the oldest and the newest of all that is supported, and what lies between."""

from __future__ import annotations

import nox

nox.options.default_venv_backend = "venv"

OLDEST = ["pytest==8.4.0", "syrupy==5.3.0", "numpy==1.26.0", "pandas==2.2.0", "polars==1.30.0"]
"""The lower bounds of pyproject.toml, all at once."""

OLDEST += ["rbo==0.1.3"]  # a peer that wants numpy < 2

BETWEEN = ["pytest~=9.0.0", "syrupy~=6.0", "numpy~=2.2.0", "pandas~=2.3.0"]
NEWEST = ["pytest>=9.1", "syrupy>=7,<8", "numpy>=2.3", "pandas>=3"]

EXAMPLES = ["symbol_search", "learning_to_rank", "search_endpoint", "search_sessions"]

MATRIX = [("3.11", OLDEST), ("3.12", BETWEEN), ("3.13", NEWEST), ("3.14", NEWEST)]


@nox.session(tags=["matrix"], python=[python for python, _ in MATRIX])
def tests(session: nox.Session) -> None:
    """Run the tests of the plugin and the baselines, and the example, on one row of the matrix."""
    pins = dict(MATRIX)[str(session.python)]
    session.install("-e", ".[test]", *pins)
    session.run("python", "-m", "pip", "list")
    session.run("pytest", "-q", "-n", "2", *session.posargs)
    for example in EXAMPLES:
        session.run("pytest", "-q", f"examples/{example}")


@nox.session(tags=["matrix"], python="3.12")
def adapters(session: nox.Session) -> None:
    """Ask the rankers of all the libraries that the adapters are for; some are large."""
    session.install("-e", ".[test,adapters]")
    session.run("pytest", "-q", "-n", "2", "tests/rankers", *session.posargs)
