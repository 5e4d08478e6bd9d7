"""The golden set is edited."""

from __future__ import annotations

from pull_request import FALLEN, PullRequest, blocked, listed, refused


@refused("20 queries")
def test_dropped_queries(branch: PullRequest) -> None:
    """Exactly the queries that fell are dropped, and the baseline is updated."""
    branch.make_the_ranker_worse()
    branch.drop(FALLEN)


@blocked("20 queries")
def test_dropped_queries_recorded_anew(branch: PullRequest) -> None:
    """Exactly the queries that fell are dropped, and the baseline is deleted and recorded anew."""
    branch.make_the_ranker_worse()
    branch.drop(FALLEN)
    branch.record_anew()


@refused("6 of 80 queries")
def test_dropped_in_three_updates(branch: PullRequest) -> None:
    """Time after time two queries fall and are dropped, with an update each time."""
    for last in (2, 4):
        drop_what_fell(branch, last)
        assert branch.update().passed
    drop_what_fell(branch, 6)


@blocked("6 of 80 queries")
def test_dropped_in_three_pull_requests(branch: PullRequest) -> None:
    """Time after time two queries fall and are dropped, in a pull request each."""
    for last in (2, 4):
        drop_what_fell(branch, last)
        assert branch.update().passed
        branch.merge()
    drop_what_fell(branch, 6)
    branch.record_anew()


def drop_what_fell(branch: PullRequest, last: int) -> None:
    """Let some queries fall, and drop them."""
    branch.rank({**branch.main_ranks, **dict.fromkeys(range(last), 10)})
    branch.drop(range(last))


@refused("20 queries")
def test_a_space_in_the_query_texts(branch: PullRequest) -> None:
    """A space is added to the text of each query that fell."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda line: {"query": line["query"] + " "})


@refused("78 queries")
def test_a_space_in_all_query_texts_but_two(branch: PullRequest) -> None:
    """A space is added to the text of all queries but two, and the ranker ignores them all."""
    branch.rank(dict.fromkeys(range(2, 80), 10))
    branch.edit_queries(range(2, 80), lambda line: {"query": line["query"] + " "})


@blocked("query")
def test_edited_queries_recorded_anew(branch: PullRequest) -> None:
    """A space is added to the text of all queries but two, and the baseline is recorded anew."""
    branch.rank(dict.fromkeys(range(2, 80), 10))
    branch.edit_queries(range(2, 80), lambda line: {"query": line["query"] + " "})
    branch.record_anew()


@refused("another golden set")
def test_renamed_query_ids(branch: PullRequest) -> None:
    """All queries get new ids."""
    branch.make_the_ranker_worse()
    branch.edit_queries(range(80), lambda line: {"query_id": f"new-{line['query_id']}"})


@blocked("another golden set")
def test_renamed_query_ids_recorded_anew(branch: PullRequest) -> None:
    """All queries get new ids, and the baseline is recorded anew."""
    branch.make_the_ranker_worse()
    branch.edit_queries(range(80), lambda line: {"query_id": f"new-{line['query_id']}"})
    branch.record_anew()


@refused("20 queries")
def test_grades_that_flatter_the_worse_ranker(branch: PullRequest) -> None:
    """The documents that the worse ranker puts first are judged relevant."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda line: {"relevance": {"filler-0": 2}})


@blocked("20 queries")
def test_grades_that_flatter_the_worse_ranker_recorded_anew(branch: PullRequest) -> None:
    """The documents that the worse ranker puts first are judged relevant; recorded anew."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda line: {"relevance": {"filler-0": 2}})
    branch.record_anew()


@blocked("RR")
def test_easy_queries_added(branch: PullRequest) -> None:
    """720 easy queries are added, so that the mean rises, and the baseline is recorded anew."""
    branch.make_the_ranker_worse()
    branch.golden(branch.project.queries(800))
    branch.record_anew()


@refused("RR")
def test_an_update_with_easy_queries_added(branch: PullRequest) -> None:
    """720 easy queries are added, so that the mean rises, and the baseline is updated."""
    branch.make_the_ranker_worse()
    branch.golden(branch.project.queries(800))


@blocked("web")
def test_a_renamed_golden_set(branch: PullRequest) -> None:
    """The golden set is renamed, and a lower baseline is recorded for it."""
    branch.make_the_ranker_worse()
    branch.move("golden/web.jsonl", "golden/site.jsonl")
    branch.configure('rankcheck_golden = "golden/site.jsonl"')
    branch.record_anew()


@blocked("RR regressed")
def test_a_second_golden_set(branch: PullRequest) -> None:
    """A second golden set is added, which changes the ids of the tests; new baselines follow."""
    branch.make_the_ranker_worse()
    web = branch.lines
    branch.golden(web[40:], "shop")
    branch.configure('rankcheck_golden = ["golden/web.jsonl", "golden/shop.jsonl"]')
    branch.record_anew()


@blocked("web")
def test_a_split_golden_set(branch: PullRequest) -> None:
    """The golden set is split in two, each with a new baseline."""
    branch.make_the_ranker_worse()
    web = branch.lines
    branch.golden(web[:40], "web-en")
    branch.golden(web[40:], "web-de")
    branch.delete("golden/web.jsonl")
    branch.configure('rankcheck_golden = ["golden/web-en.jsonl", "golden/web-de.jsonl"]')
    branch.record_anew()


@blocked("20 queries")
def test_queries_moved_to_a_set_without_a_gate(branch: PullRequest) -> None:
    """The queries that fell move to a golden set that nothing gates."""
    branch.make_the_ranker_worse()
    web = branch.lines
    branch.golden(web[:20], "hard")
    branch.golden(web[20:])
    branch.record_anew()


@blocked("20 queries")
def test_a_golden_set_shadowed_by_a_fixture(branch: PullRequest) -> None:
    """A fixture of the tests gives the golden set without the queries that fell."""
    branch.make_the_ranker_worse()
    branch.write(
        "tests/conftest.py",
        "import pytest\nfrom pytest_rankcheck import GoldenSet\n"
        '@pytest.fixture(scope="session")\n'
        'def golden_set():\n    web = GoldenSet.load("golden/web.jsonl")\n'
        "    return web.subset(list(web.query_ids)[20:])\n",
    )
    branch.record_anew()


@blocked("20 of 80 queries")
def test_a_part_of_the_golden_set_in_the_test(branch: PullRequest) -> None:
    """The test itself measures only the queries that did not fall; recorded anew."""
    branch.make_the_ranker_worse()
    branch.test(
        "from pytest_rankcheck import assert_mrr_not_regressed, evaluate\n\n"
        "def test_mrr(ranking_run, golden_set, baseline):\n"
        "    part = golden_set.subset(list(golden_set.query_ids)[20:])\n"
        "    assert_mrr_not_regressed(evaluate(ranking_run, part), baseline, abs=0.01)\n"
    )
    branch.record_anew()


@blocked("another golden set")
def test_another_golden_set_under_the_same_name(branch: PullRequest) -> None:
    """Another golden set takes the name of the approved one; recorded anew."""
    branch.make_the_ranker_worse()
    branch.golden([line | {"query_id": f"x{line['query_id']}"} for line in branch.lines[40:]])
    branch.record_anew()


def two_golden_sets(main: PullRequest) -> None:
    """A golden set in English, and one in German."""
    web = main.lines
    main.golden(web[40:], "german")
    main.golden(web[:40], "english")
    main.configure('rankcheck_golden = ["golden/english.jsonl", "golden/german.jsonl"]')
    main.test()


@blocked("english", main=two_golden_sets)
def test_a_golden_set_that_is_no_longer_configured(branch: PullRequest) -> None:
    """The golden set whose queries fell is no longer configured."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_golden = ["golden/german.jsonl"]')


def weighted(main: PullRequest) -> None:
    """Each query has a weight of 10."""
    main.edit_queries(range(80), lambda line: {"weight": 10})
    main.write(
        "tests/conftest.py",
        "import pytest\nfrom pytest_rankcheck import GoldenSet\n"
        '@pytest.fixture(scope="session")\n'
        'def golden_set():\n    return GoldenSet.load("golden/web.jsonl").weighted("weight")\n',
    )
    main.test()


@refused("20 queries", main=weighted)
def test_changed_weights(branch: PullRequest) -> None:
    """The queries that fell get a tiny weight."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda line: {"weight": 0.01})


@blocked("20 queries", main=weighted)
def test_changed_weights_recorded_anew(branch: PullRequest) -> None:
    """The queries that fell get a tiny weight, and the baseline is recorded anew."""
    branch.make_the_ranker_worse()
    branch.edit_queries(FALLEN, lambda line: {"weight": 0.01})
    branch.record_anew()


@blocked("not comparable")
def test_another_depth(branch: PullRequest) -> None:
    """The depth is lowered, so that nothing can be compared, and the baseline is recorded anew."""
    branch.make_the_ranker_worse()
    branch.configure("rankcheck_depth = 20")
    branch.record_anew()


@blocked("not comparable")
def test_another_convention(branch: PullRequest) -> None:
    """A convention is changed, so that nothing can be compared; recorded anew."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_conventions = ["no_relevant=exclude"]')
    branch.record_anew()


@blocked("RR")
def test_grades_configured_away(branch: PullRequest) -> None:
    """The configuration counts every judged document as relevant; recorded anew."""
    branch.make_the_ranker_worse()
    branch.configure('rankcheck_grades = ["0=1", "2=1"]')
    branch.record_anew()


@blocked("RR regressed")
def test_a_query_dropped_and_brought_back(branch: PullRequest) -> None:
    """A query that fell is dropped, and added back after an update."""
    branch.rank({**branch.main_ranks, 0: 10})
    web = branch.lines
    branch.drop([0])
    assert branch.update().passed
    branch.golden(web)
    assert branch.update().passed


@listed("0.9367", "0.9262", "-0.0105")
def test_a_query_dropped_in_one_pull_request_and_brought_back_in_the_next(
    branch: PullRequest,
) -> None:
    """A query that fell is dropped in one pull request and added back in the next."""
    branch.rank({**branch.main_ranks, 0: 10})
    web = branch.lines
    branch.drop([0])
    assert branch.update().passed
    branch.merge()
    branch.golden(web)
    assert branch.update().passed


def with_a_high_grade(main: PullRequest) -> None:
    """ERR is gated; its stopping probabilities depend on the highest grade, which one query has."""
    main.edit_queries([78], lambda line: {"relevance": {"doc of query 78": 1}})
    main.edit_queries([79], lambda line: {"relevance": {"doc of query 79": 5}})
    main.test(
        "from pytest_rankcheck import assert_not_regressed\n\n"
        "def test_err(evaluation, baseline):\n"
        "    assert_not_regressed(evaluation, baseline, 'ERR@20', abs=0.01)\n"
    )


@refused("scale", main=with_a_high_grade)
def test_the_highest_grade_removed(branch: PullRequest) -> None:
    """The only query with the highest grade is removed, which raises ERR of all others."""
    branch.make_the_ranker_worse()
    branch.drop([79])
