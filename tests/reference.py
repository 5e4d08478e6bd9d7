"""Where the reference data is: judged collections, and other evaluators' numbers on them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "RANKCHECK_REFERENCE_DATA"


def data(relative: str) -> Path:
    """Return a file of the reference data; the test is skipped where the folder is absent."""
    folder = ROOT / os.environ.get(VARIABLE, "../shared/data")
    if not folder.is_dir():
        pytest.skip(f"no reference data at {folder} (set {VARIABLE})")
    return folder / relative


def unpacked(relative: str, folder: Path) -> Path:
    """Return a file of the reference data, unpacked into ``folder`` if it is gzipped."""
    import gzip

    packed = data(relative)
    if packed.suffix != ".gz":
        return packed
    plain = folder / packed.stem
    plain.write_bytes(gzip.decompress(packed.read_bytes()))
    return plain


def printed(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield what trec_eval printed: measure, query (or ``all``), value as text."""
    for line in path.read_text(encoding="utf-8").splitlines():
        measure, query_id, value = line.split("\t")
        yield measure.strip(), query_id, value.strip()
