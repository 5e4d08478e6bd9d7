"""Gates on one value of the whole run: what is recorded, and what needs an approval."""

import json
import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from gated_test import GatedTest
from project import Project, text_of

from pytest_rankcheck import GoldenSet, assert_not_regressed
from pytest_rankcheck.baselines.register import Defaults

METRICS = ["CatalogCoverage@2", "nDCG@2"]
WORSE = {f"u{n}": [f"d{n % 3}", "d9"] for n in range(6)}


class Shop(GatedTest):
    """A test of what six users are shown of a catalogue of ten documents."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.assertions = (partial(assert_not_regressed, metric=METRICS, abs=0.1),)
        self.defaults = Defaults(slices=("locale",))
        self.stock()
        self.answer({f"u{n}": [f"d{n}", f"d{n + 1}"] for n in range(8)})

    def stock(self, users: int = 6, documents: int = 10) -> None:
        """Set the golden set and its catalogue."""
        ids = [f"u{n}" for n in range(users)]
        titles = [(f"d{n}", f"Title {n}") for n in range(documents)]
        self.golden_set = GoldenSet.from_dict(
            {user: {f"d{n % 6}": 1} for n, user in enumerate(ids)},
            dict(zip(ids, ids, strict=True)),
            attributes={user: {"locale": "de"} for user in ids},
            documents=pd.DataFrame(titles, columns=["doc_id", "title"]),
            interactions=pd.DataFrame([("u0", "d9")], columns=["user", "item"]),
            name="web",
        )

    def answer(self, rankings: dict[str, list[str]]) -> None:
        """Set what each user is shown."""
        self.search = rankings.__getitem__


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.update()
    return made


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_record_has_the_value_once_and_the_size_of_the_catalogue(shop: Shop) -> None:
    before, record = shop.path.read_bytes(), shop.record
    assert record["metrics"]["CatalogCoverage@2"]["mean"] == 0.7
    assert record["golden_set"]["catalogue"] == 10
    assert all(list(line["values"]) == ["nDCG@2"] for line in record["queries"])
    assert shop.run().passed
    assert shop.update() == before


def test_a_fall_is_blocked_and_approved(shop: Shop) -> None:
    shop.answer(WORSE)
    failure = words(shop.run().failure)
    for line in (
        "2 of 2 metrics regressed on golden set 'web' (6 queries); allowed: tolerance(abs=0.1",
        "CatalogCoverage@2 0.7000 -> 0.4000 -0.3000 one value of the whole run (95% interval ",
        ' d9 "Title 9" is in the top 2 of 6 queries, 0 before',
        ' d3 "Title 3" is in no top 2 any more, 2 before',
    ):
        assert line in failure
    assert not shop.run(update=True).passed
    assert shop.record["metrics"]["CatalogCoverage@2"]["mean"] == 0.7
    assert shop.run(approve="fewer documents on purpose").passed
    keys = shop.record["approvals"][0]["keys"]
    assert keys["fall:CatalogCoverage@2"] == {"from": 0.7, "to": 0.4}
    assert shop.run().passed


def test_reports_have_no_values_by_query(shop: Shop) -> None:
    shop.answer(WORSE)
    report = json.loads(shop.run().outputs["json"])
    gate = next(each for each in report["gates"] if each["metric"] == "CatalogCoverage@2")
    assert (gate["baseline"], gate["now"]) == (0.7, 0.4)
    overall = gate["overall"]
    assert [overall[name] for name in ("wins", "ties", "losses", "interval", "p")] == [None] * 5
    (measured,) = report["measurements"]
    assert measured["means"]["CatalogCoverage@2"] == [0.7, 0.4]
    values = {tuple(each["values"]["CatalogCoverage@2"]) for each in measured["queries"]}
    assert values == {(None, None)}


def test_another_catalogue_needs_an_approval_and_blocks_no_other_metric(shop: Shop) -> None:
    shop.stock(documents=12)
    for update in (False, True):
        failure = shop.run(update=update).failure
        for line in (
            "CatalogCoverage@2 on golden set 'web' cannot be compared with its baseline",
            "catalogue: 10 documents in the baseline, 12 now",
            "; if it changes often, gate Distinct@k, and give this metric a floor",
            "CatalogCoverage@2 was 0.7000 on what was measured then",
        ):
            assert line in failure
        assert "nDCG@2 on golden set" not in failure
    assert shop.run(approve="new products").passed
    assert shop.record["approvals"][0]["keys"]["catalogue"] == {"from": 10, "to": 12}
    assert shop.record["golden_set"]["catalogue"] == 12
    assert shop.run().passed


def test_another_golden_set_needs_an_approval(shop: Shop) -> None:
    shop.stock(users=8)
    failure = shop.run(update=True).failure
    assert "the golden set changed, and one value of the whole run has no" in words(failure)
    shop.golden_set = shop.golden_set.subset([f"u{n}" for n in range(1, 8)])
    outcome = shop.run(approve="two users more")
    assert outcome.passed
    assert re.search(r"removed or edited: u0 \(nDCG@2 \d\.\d{4}\)$", outcome.text, re.MULTILINE)
    assert "golden-set" in shop.record["approvals"][0]["keys"]
    assert shop.run().passed


COVERAGE = """
from pytest_rankcheck import assert_at_least

def test_mrr(evaluation):
    assert_at_least(evaluation, "RR", 0.1)

def test_coverage(evaluation):
    assert_at_least(evaluation, "CatalogCoverage@1", 0.1)
"""


def test_what_is_unknown_is_noted_whichever_test_comes_first(project: Project) -> None:
    project.test(COVERAGE)
    project.configure('rankcheck_documents = "stock.csv"')
    known = (f"doc of query {number}" for number in range(70))
    project.write("stock.csv", "\n".join(["doc_id", *known, ""]))
    found = " ".join(text_of(project.run()).split())
    noted = "10 of 80 ranked documents without a row"
    assert f"warning: means that may mislead: golden set 'web': {noted}" in found
    assert found.count(noted) == 1
