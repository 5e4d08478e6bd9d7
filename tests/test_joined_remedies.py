"""One command for several failures, where that works."""

from pytest_rankcheck.remedies import Place, joined, merge

A, B = (
    Place("a.json", "t.py::a --rankcheck-run=x"),
    Place("b.json", "'t u.py::b[x y]' --rankcheck-run=x"),
)
AT_MAIN = Place("a.json", "t.py::a", "main")
REASON = '--rankcheck-approve "why this is acceptable"'
BOTH = "t.py::a 't u.py::b[x y]' --rankcheck-run=x"


def test_joined() -> None:
    for remedies, commands in (
        ([], []),
        ([A.approve()], [f"to approve: pytest t.py::a --rankcheck-run=x {REASON}"]),
        ([A.approve(), A.approve(), B.approve()], [f"to approve: pytest {BOTH} {REASON}"]),
        (
            [A.update("to add it"), B.update("to add it")],
            [f"to add it: pytest {BOTH} --snapshot-update"],
        ),
        ([A.update("to add it"), B.approve()], [f"to add it; to approve: pytest {BOTH} {REASON}"]),
        (
            [AT_MAIN.approve(), merge("main"), Place("", "", "main").approve()],
            [
                "to bring this branch up to date: git merge main",
                f"to approve: pytest --rankcheck-baseline-ref=main {REASON}",
            ],
        ),
        ([A.restore()], [str(A.restore())]),
    ):
        assert list(map(str, joined(remedies))) == commands
