"""The XML files of the TREC session tracks."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from reference import data as reference_data

from pytest_rankcheck import SessionLog, SessionLogError, evaluate_sessions
from pytest_rankcheck.sessions.formats import trec_sessions

SAMPLE = """<?xml version="1.0" encoding="utf-8"?>
<sessiontrack2014>
   <session num="1" starttime="0" userid="u7">
      <topic num="5"><title>not the topic</title><desc>Find caf&#233;s &amp; bars.</desc></topic>
      <interaction num="1" starttime="4.5" type="reformulate">
         <query>caf\u00e9</query>
         <results>
            <result rank="11"><url>http://a</url><clueweb12id>d-a</clueweb12id><title>A</title></result>
            <result rank="12"><url>http://b</url><clueweb12id>d-b</clueweb12id></result>
            <result rank="13"><url>http://c</url><title/><snippet>x</snippet></result>
         </results>
         <clicked>
            <click num="1" starttime="9.5" endtime="NA"><rank>12</rank></click>
            <click num="2" starttime="00:00:12.5" endtime="20"><rank>13</rank></click>
         </clicked>
      </interaction>
      <interaction num="2" starttime="30"><query>caf\u00e9 bar</query><results/></interaction>
      <currentquery starttime="40"><query>never run</query></currentquery>
   </session>
   <session num="2" starttime="0" userid="u7">
      <topic num="6"/>
      <currentquery starttime="1"><query>never run</query></currentquery>
   </session>
</sessiontrack2014>
"""  # fmt: skip


def written(tmp_path: Path, text: str, name: str = "log.xml") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_sample_worked_by_hand(tmp_path: Path) -> None:
    log = SessionLog.load(written(tmp_path, SAMPLE))
    assert (len(log), log.event_count) == (1, 2)
    assert log.attributes("1") == {"user": "u7", "topic": "5"}
    events = log.events.to_dict("list")
    assert events["query"] == ["caf\u00e9", "caf\u00e9 bar"]
    assert events["time"] == [4.5, 30.0]
    assert events["results"] == [["d-a", "d-b", "http://c"], []]
    assert events["selected"] == [[2, 3], []]
    evaluation = evaluate_sessions(log)
    assert evaluation.mean("SessionRR(abandoned=zero)") == 1 / 3  # the last click is on rank 13
    assert evaluation.mean("TimeToSelection(abandoned=exclude)") == 9.5  # since the session started
    assert log.notes == ["1 session without an interaction ignored"]


def xml_of(session: dict[str, Any]) -> str:
    """Return a session of the reference data in the form of its source."""
    lines = [f'<session num="{session["session"]}" starttime="{session["start"]}">']
    lines.append(f"<topic num={quoteattr(session['topic'])}><desc>x</desc></topic>")
    for event in session["events"]:
        lines.append(f'<interaction num="{event["event"]}" starttime="{event["time"]}">')
        lines.append(f"<query>{escape(event['query'])}</query><results>")
        for rank, document in enumerate(event["results"], start=1):
            lines.append(f'<result rank="{rank}"><clueweb12id>{document}</clueweb12id></result>')
        lines.append("</results><clicked>")
        for click in event["clicks"]:
            end = "NA" if click["end"] is None else click["end"]
            lines.append(f'<click starttime="{click["start"]}" endtime="{end}">')
            lines.append(f"<rank>{click['rank']}</rank></click>")
        lines.append("</clicked></interaction>")
    return "\n".join([*lines, "</session>"])


@pytest.mark.parametrize("block", [1 << 18, 777])
def test_the_track_of_2013(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(trec_sessions, "_BLOCK", block)
    source = reference_data("trec-session-2013") / "sessions.jsonl"
    expected = SessionLog.load(source, time_unit="s")
    sessions = [xml_of(json.loads(line)) for line in source.read_text("utf-8").splitlines()]
    text = "\n".join(["<sessiontrack2013>", *sessions, "</sessiontrack2013>"])
    file = tmp_path / "sessiontrack2013.xml.gz"
    file.write_bytes(gzip.compress(text.encode()))
    log = SessionLog.load(file)
    assert log.name == "sessiontrack2013"
    assert (len(log), log.event_count) == (133, 401)
    assert log.events.equals(expected.events)
    assert [log.attributes(each) for each in log.session_ids] == [
        expected.attributes(each) for each in expected.session_ids
    ]
    for name in ("final_rank", "final_event", "duration", "first_selection", "click_rank"):
        assert np.array_equal(
            getattr(log.trails, name), getattr(expected.trails, name), equal_nan=True
        )
    assert not log.notes


def test_a_log_of_2011_has_times_of_the_day_and_titles_of_topics(tmp_path: Path) -> None:
    text = """<sessiontrack2011>
   <session num="17" starttime="23:59:30.5">
      <topic>
         <title>berkley insurance</title>
         <desc>Find information on berkley insurance</desc>
         <narr>When was the company founded?</narr>
      </topic>
      <interaction num="1" starttime="23:59:40.5">
         <query>berkley insurance</query>
         <results>
            <result rank="1">
               <url>http://www.berkely.com/</url>
               <clueweb09id>clueweb09-en0007-88-36069</clueweb09id>
               <title>Berkely Group</title>
               <snippet>Administers passenger protection programs</snippet>
            </result>
         </results>
         <clicked>
            <click num="1" starttime="00:00:10.25" endtime="00:00:11.5"><rank>1</rank></click>
         </clicked>
      </interaction>
   </session>
</sessiontrack2011>
"""
    log = SessionLog.load(written(tmp_path, text))
    assert log.attributes("17") == {"topic": "berkley insurance"}
    assert log.events["results"].tolist() == [["clueweb09-en0007-88-36069"]]
    assert log.events["time"].tolist() == [24 * 3600 - 19.5]
    # 39.75 s after the start of the session, on the next day.
    evaluation = evaluate_sessions(log)
    assert evaluation.mean("TimeToSelection(abandoned=exclude)") == 39.75


@pytest.mark.parametrize("block", [1, 3, 10, 1 << 18])
def test_bare_ampersands_are_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(trec_sessions, "_BLOCK", block)
    text = SAMPLE.replace(
        "<query>caf\u00e9<", "<query>AT&T &amp; R&amp;D&nbsp;&#38;& &lt;b&#x3e;&<"
    )
    log = SessionLog.load(written(tmp_path, text))
    assert log.events["query"].tolist()[0] == "AT&T & R&D&nbsp;&& <b>&"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(12))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"<!DOCTYPE x [{LAUGHS}]><sessiontrack2014>&l11;</sessiontrack2014>",
         "log.xml:1: the file has a document type declaration"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><sessiontrack2014/>', "log.xml:1: the file has a doc"),
        ("<?xml version='1.0'?>\n<sessions/>", "log.xml:2: XML of another kind: its root is 'sessions'"),
        (SAMPLE.replace("</query>", "", 1), "log.xml:7: not XML: mismatched tag, column|not XML"),
        (SAMPLE.replace('"utf-8"', '"tf-8"'), "log.xml: not XML that can be read: unknown encoding"),
        (SAMPLE.replace('"utf-8"', '"utf-7"'), "log.xml: not XML that can be read: "),
        (SAMPLE[:400], "not XML: no element found|not XML: unclosed token"),
        (SAMPLE.replace("<rank>12</rank>", "<rank>99</rank>"),
         "log.xml:3: session '1': a click: '99, which no result has' is not a number"),
        (SAMPLE.replace('"9.5"', '"soon"'), "log.xml:3: session '1': a click: 'soon' is not a time"),
        ("<sessiontrack2014></sessiontrack2014>", "log.xml is empty"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SessionLogError, match=message):
        SessionLog.load(written(tmp_path, text), format="trec-xml")


def test_a_unit_of_other_logs_is_still_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, '{"session_id": "a", "time": 3}\n', "log.jsonl")
    with pytest.raises(SessionLogError, match="give its unit"):
        SessionLog.load(path)
    assert SessionLog.load(written(tmp_path, SAMPLE), time_unit="s").events["time"].tolist() == [
        4.5,
        30.0,
    ]
