"""Every reader, on thousands of broken files: it loads them, or says what is wrong with them."""

import pytest
from bounds import few, loads_or_refuses
from hypothesis import given
from mutations import STEPS, Step, mutated
from readers import READERS
from samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_a_valid_file_is_read(sample: Sample, tmp_path) -> None:
    READERS[sample.kind](written(sample, tmp_path, []))


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@given(steps=STEPS)
@few()
def test_a_broken_file_is_read_or_refused(sample: Sample, steps: list[Step], tmp_path) -> None:
    path = written(sample, tmp_path, steps)
    with loads_or_refuses():
        READERS[sample.kind](path)


def written(sample: Sample, folder, steps: list[Step]):
    """Write the files of a sample, one of them mutated; return the path to open."""
    for name, data in sample.files.items():
        file = folder / name
        if name == sample.mutated:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(sample.finish(mutated(data, steps)) if steps else data)
        elif not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    return folder / sample.opened
