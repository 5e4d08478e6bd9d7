"""Valid files of every format that is read, small enough to try thousands of changes a second."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from pytest_rankcheck import (
    Approval,
    GoldenSet,
    Record,
    Run,
    assert_at_least,
    assert_not_regressed,
    evaluate,
)
from pytest_rankcheck.baselines import data_file
from pytest_rankcheck.baselines.record_contents import digest_of
from pytest_rankcheck.baselines.record_writer import RecordTexts, record_text, record_texts
from pytest_rankcheck.metrics.metric_names import Metric
from pytest_rankcheck.reports.json_report import json_of
from pytest_rankcheck.reports.ledger import collecting
from pytest_rankcheck.reports.report_data import Report, report_of

__all__ = ["PARQUET", "SAMPLES", "Sample", "golden_set", "large_record", "report"]


@dataclass(frozen=True)
class Sample:
    """A valid file, or several of which one is mutated."""

    name: str
    kind: str
    """What reads it: a key of ``READERS``."""
    files: Mapping[str, bytes]
    """By path. The first one is mutated."""
    opened: str = ""
    """The path that is opened; empty: the mutated file."""
    finish: Callable[[bytes], bytes] = bytes
    """What is done after the mutation, such as sealing an edited record."""

    @property
    def mutated(self) -> str:
        """The path of the file that is mutated."""
        return next(iter(self.files))

    def __str__(self) -> str:
        return self.name


GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d2": 1}, "q3": {"d3": 3, "d1": 1}}
TEXTS = {"q1": "red shoes", "q2": "heat", "q3": "\u00fcber"}

GOLDEN = {
    "golden.jsonl": """{"query_id": "q1", "query": "red shoes", "relevance": {"d1": 2, "d2": 0}, "locale": "en"}
{"query_id": "q2", "query": "heat", "relevance": {"d2": 1}, "locale": "de", "tags": ["a", "b"], "weight": 2}
{"query_id": "q3", "relevance": {"d3": 3, "d1": 1}, "expect": [{"in_top": 3, "documents": ["d3"]}, {"above": ["d3", "d1"], "reason": "why", "severity": "warn"}, {"results": "some"}]}
{"grade_scale": 4}
""",
    "golden.csv": """query_id,query,doc_id,relevance,title,locale
q1,red shoes,d1,2,"A, title",en
q1,red shoes,d2,0,,en
q2,heat,d2,1,B,de
q3,"a ""quoted"" one",d3,3,C,
""",
    "golden.tsv": "query_id\tdoc_id\trelevance\tprice\nq1\td1\t2\t1.5\nq1\td2\t0\t2\nq2\td2\t1\t0.5\n",
    "excel.csv": "\ufeffsep=;\r\nqid;docno;label\r\nq1;d1;2\r\nq1;d2;0\r\nq2;d2;1\r\n",
    "golden.qrels": "# judged in May\nq1 0 d1 2\nq1 0 d2 0\nq2 Q0 d2 1\nq3 0 d3 3\nq3 0 d1 -1\n",
    "rank.letor": "2 qid:1 1:0.5 2:0.25 # d1 red shoes\n0 qid:1 1:0.1 # d2 red shoes\n1 qid:2 2:1 # d7\n",
    "named.letor": "2 qid:1 1:0.5 #docid = d1 inc = 1\n0 qid:1 1:0.1 #docid = d2 inc = 1\n1 qid:2 2:1 #docid = d1\n",
    "case.csv": "query,docid,rating\nred shoes,d1,3\nred shoes,d2,0\n -1 heat,d2,1\nunrated\n",
    "book.csv": "query,docid,Alice,Bob\nred shoes,d1,3,2\nred shoes,d2,0,\nheat,d2,,1\n",
    "case.json": json.dumps(
        {
            "queries": [
                {"query": "red", "ratings": {"d1": 2, "d2": 0}},
                {"query_text": "heat", "ratings": {}},
            ]
        }
    ),
    "book.json": json.dumps(
        {
            "query_doc_pairs": [
                {"query_text": "red", "doc_id": "d1", "judgements": [{"rating": 2}, {"rating": 3}]},
                {"query_text": "heat", "doc_id": "d2", "judgements": []},
            ]
        }
    ),
    "ratings.json": json.dumps(
        {
            "topics": [
                {
                    "description": "shoes",
                    "query_groups": [
                        {
                            "name": "red",
                            "queries": [{"template": "t.json", "placeholders": {"$query": "red"}}],
                            "relevant_documents": {"d1": {"gain": 2}, "d2": {"gain": 0}},
                        },
                        {
                            "name": "blue",
                            "queries": [{"placeholders": {"$query": "blue"}}],
                            "relevant_documents": {"2": ["d3"]},
                        },
                    ],
                }
            ]
        }
    ),
    "rank_eval.json": json.dumps(
        {
            "requests": [
                {
                    "id": "q1",
                    "request": {"query": {"match": {"text": "red"}}},
                    "ratings": [
                        {"_index": "p", "_id": "d1", "rating": 2},
                        {"_index": "p", "_id": "d2", "rating": 0},
                    ],
                }
            ]
        }
    ),
    "judgments.json": json.dumps(
        {"judgmentRatings": [{"query": "red", "ratings": [{"docId": "d1", "rating": "2.0"}]}]}
    ),
    "tojudge.csv": """query_id,query,doc_id,title,relevance,rank,metric,influence
q1,red shoes,d1,A,2,1,nDCG@10,0.100000
q1,red shoes,'=d2,,0,2,nDCG@10,0.050000
q2,heat,d2,,,1,RR,0.010000
""",
}
"""Golden sets in one file, by name."""

RUNS = {
    "run.trec": "q1 Q0 d1 1 9.5 bm25\nq1 Q0 d2 2 8.5 bm25\nq1 Q0 d9 3 8.5 bm25\nq2 Q0 d2 1 3 bm25\nq3 Q0 d3 1 1e3 bm25\n",
    "run.csv": "query_id,doc_id,rank,score\nq1,d1,1,9.5\nq1,d2,2,8.5\nq2,d2,1,3\nq3,d3,1,1e3\n",
    "ranks.tsv": "qid\tdocno\tposition\nq1\td1\t1\nq1\td2\t2\nq2\td2\t1\nq3\td3\t1\n",
    "run.jsonl": """{"query_id": "q1", "ranking": ["d1", "d2"]}
{"query_id": "q2", "ranking": ["d2", "d9"], "scores": [12.5, 3.25]}
{"query_id": "q3", "ranking": []}
""",
}

LOGS = {
    "log.jsonl": """{"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"], "group": "A"}
{"session_id": "s1", "event": 2, "time": 1.5, "query": "camel", "results": ["d3"], "selected": "d3", "group": "A"}
{"session_id": "s2", "event": 1, "time": "7", "query": "x", "results": "d1|d2", "selected_rank": 1}
""",
    "nested.jsonl": """{"session": "s1", "start": 0.0, "events": [{"event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"], "clicks": [{"rank": 2, "start": 2.5, "end": 9.0}]}]}
{"session": "s2", "start": 0.0, "events": [{"event": 1, "time": 0.5, "query": "cam", "results": ["d7"], "clicks": []}]}
""",
    "log.csv": """session_id,event,time,query,results,selected_rank,finished,group
s1,1,2026-11-21T14:30:05Z,cam,d7|d3,,false,A
s1,2,2026-11-21T14:30:09Z,camel,d3,1,true,A
s2,1,2026-11-21T15:00:00Z,x,d1|d2,2,yes,B
""",
    "numbers.tsv": "sid\tstep\tts\tkeyword\tresult_count\tclicked_rank\ns1\t1\t1763735405\tcam\t2\t1\ns2\t1\t1763735406\tx\t0\t\n",
    "log.json": """[
  {"session_id": "s1", "event": 1, "time": 0.5, "query": "cam", "results": ["d7", "d3"], "group": "A"},
  {"session_id": "s1", "event": 2, "time": 1.5, "results": ["d3"], "selected": "d3", "group": "A"}
]
""",
    "log.xml": """<?xml version="1.0" encoding="utf-8"?>
<sessiontrack2014><session num="1" starttime="0" userid="u"><topic num="5"><title>t</title></topic>
<interaction num="1" starttime="4.5"><query>a &amp; b</query><results>
<result rank="1"><url>http://a</url><clueweb12id>d-a</clueweb12id></result><result rank="2"><url>http://b</url></result>
</results><clicked><click num="1" starttime="9.5" endtime="NA"><rank>2</rank></click></clicked></interaction>
<currentquery starttime="40"><query>never run</query></currentquery></session></sessiontrack2014>
""",
    "actions.csv": """session_id,query_id,time,query,doc_id,position,action_name,clicked_at
s1,q1,2026-11-21T14:30:05Z,cam,d7,1,impression,
s1,q1,2026-11-21T14:30:05Z,cam,d3,2,impression,
s1,q1,2026-11-21T14:30:05Z,cam,d3,2,click,2026-11-21T14:30:09Z
s1,q1,2026-11-21T14:30:12Z,cam,d3,2,purchase,
s1,q1,2026-11-21T14:30:12Z,cam,d3,2,purchase,
s2,q2,2026-11-21T15:00:00Z,x,d1,1,impression,
""",
    "clients.jsonl": """{"session_id": "c", "query_id": "q1", "time": 0.5, "results": ["d7", "d3"], "agent": "x"}
{"session_id": "c", "query_id": "q1", "time": 4, "type": "click", "doc_id": "d3", "grade": 2}
{"session_id": "c", "event": 7, "time": 5000, "type": "click", "position": 1}
{"session_id": "b", "query_id": "q2", "time": 5000, "results": []}
""",
    "payload.csv": """event_id,time_epoch,event_data
searchRestarted,1763735405000,"{""sessionId"": ""s1"", ""index"": 1, ""query"": ""cam"", ""results"": [""d7"", ""d3""]}"
sessionFinished,1763735409000,"{""sessionId"": ""s1"", ""index"": 2, ""query"": ""camel"", ""results"": [""d3""], ""selectedIndexes"": [0]}"
""",
}

CONFIGURATION = """
[tool.pytest.ini_options]
rankcheck_golden = ["golden.jsonl"]
rankcheck_grades = ["1=4", "2=3"]
rankcheck_columns = ["query_id=keyword"]
rankcheck_scale = "3"
rankcheck_gate = ["web nDCG@10: noninferior(margin=0.02)", "tolerance(abs=0.01)"]
rankcheck_depth = 100
rankcheck_doc_id = ["lower", "before:#"]
rankcheck_session_reading = ["first_rank=0", "selections_where=a:b|c,d:e", "grades=b:2", "session_gap=1h"]
rankcheck_lint = ["scale=0..3", "tolerance=0.02"]
"""


@cache
def golden_set() -> GoldenSet:
    """Return the golden set that runs, records and reports are about."""
    return GoldenSet.from_dict(
        GRADES, queries=TEXTS, attributes={query: {"locale": "en"} for query in GRADES}, name="web"
    )


def _evaluation(**rankings: list[str]) -> Any:
    return evaluate(
        Run.from_dict({"q1": ["d1", "d2"], "q2": ["d9", "d2"], "q3": ["d3"], **rankings}),
        golden_set(),
    )


def record() -> str:
    """Return the text of a baseline with everything that a record can have."""
    return record_text(_record())


@cache
def large_record() -> RecordTexts:
    """Return the same record as two files, with slices in its lines."""
    made = _record()
    lines = {
        query: replace(line, slices={"locale": ("de", "en")}, top=(*line.top, "x\\\ty"))
        for query, line in made.queries.items()
    }
    with mock.patch.object(data_file, "COMPACT_FROM", 1):
        return record_texts(replace(made, queries=lines))


def _record() -> Record:
    metrics = {
        Metric.parse("nDCG@10"): "tolerance(abs=0.01)",
        Metric.parse("RR"): "noninferior(margin=0.1)",
    }
    approval = Approval(
        "half the latency",
        "2026-11-21T14:30:05Z",
        "0" * 40,
        "Ada <ada@example.org>",
        {"nDCG@10": {"from": 0.5, "to": 0.4}, "RR, locale=en": {"from": None, "to": 0.4}},
        "another depth",
        {"RR": {"from": 0.4, "to": 0.5}},
    )
    return Record.of(
        _evaluation(),
        metrics,
        [Metric.parse("P@1")],
        (approval,),
        attributes=["locale"],
        test="test_mrr",
        world={"model.bin": "sha256:0"},
    )


@cache
def report() -> Report:
    """Return the report of a gate that fails, one that passes, and a bound."""
    now, then = _evaluation(q1=["d8", "d2", "d1"]), _evaluation()
    with collecting(detail=True) as ledger:
        for check in (
            lambda: assert_not_regressed(now, then, "nDCG@10", abs=0.001, by="locale"),
            lambda: assert_not_regressed(now, then, "RR", abs=0.9),
            lambda: assert_at_least(now, "P@1", 0.9),
        ):
            try:
                check()
            except AssertionError:
                continue
    return report_of([finding.with_test("test_it.py::test_it") for finding in ledger], "pytest")


def _conflict(text: str) -> str:
    """Return a record as git leaves it when two branches have changed it."""
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    return "".join(
        [
            *lines[:middle],
            "<<<<<<< HEAD\n",
            lines[middle],
            "=======\n",
            lines[middle],
            ">>>>>>> feature\n",
            *lines[middle + 1 :],
        ]
    )


def sealed(data: bytes) -> bytes:
    """Return an edited record with the means and the digest of its new content."""
    try:
        entry = json.loads(data)
        for name, detail in entry["metrics"].items():
            values = [line["values"].get(name) for line in entry["queries"]]
            counted = [value for value in values if value is not None]
            detail["mean"] = round(sum(counted) / len(counted), 6) if counted else None
    except Exception:
        pass
    try:
        entry["digest"] = digest_of(entry)
        return json.dumps(entry).encode("ascii")
    except Exception:
        return data


@dataclass(frozen=True)
class Table:
    """A valid table for a file of columns."""

    name: str
    kind: str
    frame: Mapping[str, list[Any]]

    def __str__(self) -> str:
        return self.name


_JUDGED = {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d2"], "relevance": [2, 0, 1]}

PARQUET = [
    Table("judgments", "golden", _JUDGED),
    Table("golden", "golden", {**_JUDGED, "query": ["red", "red", "heat"], "locale": ["en"] * 3}),
    Table("run", "run", {**_JUDGED, "score": [2.5, 0.5, 1.0]}),
    Table("ranks", "run", {**_JUDGED, "rank": [1, 2, 1]}),
    Table(
        "log",
        "log",
        {
            "session_id": ["s1", "s1", "s2"],
            "event": [1, 2, 1],
            "time": [1763735405, 1763735409, 1763735500],
            "query": ["cam", "camel", "x"],
            "results": [["d7", "d3"], ["d3"], ["d1"]],
            "selected": [None, "d3", None],
        },
    ),
]
"""What is in the files of columns."""


def parquet_samples() -> list[Sample]:
    """Return the tables as Parquet and Arrow files; none without polars."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        return []
    samples = []
    for table in PARQUET:
        frame = pl.DataFrame(dict(table.frame))
        for ending, write in (("parquet", frame.write_parquet), ("arrow", frame.write_ipc)):
            buffer = io.BytesIO()
            write(buffer)
            name = f"{table.name}.{ending}"
            samples.append(Sample(name, table.kind, {name: buffer.getvalue()}))
    return samples


CORPORA = {
    "corpus.jsonl": '{"_id": "d1", "text": "red"}\n{"_id": 7, "text": "\u00fcber"}\n',
    "corpus.csv": 'title,doc_id\n"red, shoes",d1\nheat,D2\n',
    "collection.tsv": "d1\tred shoes\nd2\theat\n",
    "ids.txt": "d1\n00d2\n d3\n",
}


def _samples() -> list[Sample]:
    samples = [
        Sample(name, kind, {name: text.encode("utf-8")})
        for kind, texts in (("golden", GOLDEN), ("run", RUNS), ("log", LOGS), ("corpus", CORPORA))
        for name, text in texts.items()
    ]
    web = {
        "web.qrels": b"q1 0 d1 2\nq2 0 d2 1\n",
        "web.queries.tsv": b"query_id\tquery\tlocale\nq1\tred\ten\nq2\theat\tde\nq3\tunjudged\t\n",
    }
    lightgbm = {"rank.test.query": b"2\n1\n", "rank.test": b"2 1:0.5 2:0.25\n0 1:0.1\n1 2:1\n"}
    beir = {
        "beir/queries.jsonl": b'{"_id": "q1", "text": "red", "metadata": {"locale": "en"}}\n{"_id": "q2", "text": "heat"}\n',
        "beir/qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq2\td2\t1\n",
        "beir/corpus.jsonl": b'{"_id": "d1", "title": "A", "text": "..."}\n',
    }
    samples += [
        _with_first(Sample("web.queries.tsv", "golden", web, "web.qrels"), "web.queries.tsv")
    ]
    samples += [Sample("rank.test.query", "golden", lightgbm, "rank.test")]
    samples += [_with_first(Sample(name, "golden", beir, "beir"), name) for name in beir]
    baseline, report_text = record().encode("utf-8"), json_of(report()).encode("utf-8")
    large = large_record()
    header, lines = large.header.encode("utf-8"), large.data or b""
    large_files = {
        "large.json": header,
        data_file.data_path(Path("large.json"), data_file.sha256_of(lines)).name: lines,
    }
    samples += [
        Sample("large.json", "record", large_files),
        Sample("large-sealed.json", "record", large_files, finish=sealed),
        Sample("large.tsv", "lines", {"large.tsv": lines}),
        Sample("baseline.json", "record", {"baseline.json": baseline}),
        Sample("sealed.json", "record", {"sealed.json": baseline}, finish=sealed),
        Sample("report.json", "record", {"report.json": report_text}),
        Sample(
            "conflict.json",
            "conflict",
            {"conflict.json": _conflict(baseline.decode("utf-8")).encode("utf-8")},
        ),
        Sample("jobs.json", "unrun", {"jobs.json": report_text}),
        Sample(
            "pyproject.toml", "configuration", {"pyproject.toml": CONFIGURATION.encode("utf-8")}
        ),
    ]
    return samples


def _with_first(sample: Sample, first: str) -> Sample:
    """Return a sample that mutates another of its files."""
    files = {first: sample.files[first], **sample.files}
    return Sample(sample.name, sample.kind, files, sample.opened, sample.finish)


SAMPLES = [*_samples(), *parquet_samples()]
