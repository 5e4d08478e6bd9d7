"""Rankers with the faults of real ones, each in plain Python, for a new process to import."""

import os
import sys
import threading
import time
import zlib

DOCS = [f"d{number}" for number in range(12)]


def ranked(text: str, salt: str = "") -> list[str]:
    """Rank by a hash of text and document, which is the same in every process."""
    return sorted(
        DOCS, key=lambda doc: zlib.crc32(f"{salt}{text}|{doc}".encode("utf-8", "surrogatepass"))
    )


def sound(text: str) -> list[str]:
    return ranked(text)


class ColdCache:
    """Caches answers under the length of the query and its last character: keys collide."""

    def __init__(self) -> None:
        self.cache: dict[tuple[int, str], list[str]] = {}

    def __call__(self, text: str) -> list[str]:
        return self.cache.setdefault((len(text), text[-1]), ranked(text))


def iterates_over_a_set(text: str) -> list[str]:
    """Give all documents one score, and rank them as a set has them."""
    return list({f"{doc} {text}" for doc in DOCS})


def searches_deeper(text: str, k: int) -> list[str]:
    """Search a graph whose best documents are only reached if many are asked for (ef = k)."""
    order = ranked(text)
    return order[: k + 1][::-1][:k] if int(text.rsplit(maxsplit=1)[-1]) % 3 == 0 else order[:k]


def keeps_its_order(text: str, k: int) -> list[str]:
    return ranked(text)[:k]


def is_child() -> bool:
    """Return whether this is the new process that the check starts."""
    return "RANKCHECK_PROCESS_CONDITION" in os.environ


def prints_and_leaves_a_thread(text: str) -> list[str]:
    """Write to the standard output, as C libraries do, and keep a thread running."""
    os.write(1, b"\xff\x00 loading\n")
    if is_child():
        threading.Thread(target=time.sleep, args=(600,), daemon=False).start()
    return ranked(text)


def hangs_in_a_child(text: str) -> list[str]:
    if is_child():
        print("waiting for the index", file=sys.stderr, flush=True)
        time.sleep(600)
    return ranked(text)


def dies_in_a_child(text: str) -> list[str]:
    if is_child():
        print("out of \x1b[31mmemory", file=sys.stderr, flush=True)
        os._exit(137)
    return ranked(text)


def fails_in_a_child(text: str) -> list[str]:
    if is_child() and text.endswith("3"):
        raise ValueError("no\x1b index")
    return ranked(text)


THE_ONE = ColdCache()


def get_the_one() -> ColdCache:
    return THE_ONE


def fails() -> ColdCache:
    raise FileNotFoundError("models/current\x1b is missing")
