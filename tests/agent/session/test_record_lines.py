"""Lines of a transcript: checksums, both directions, every kind of damage."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.session.record_lines import (
    DamagedLine,
    Line,
    decode,
    encode,
    read_backwards,
    read_forwards,
)

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FACTS = st.dictionaries(
    st.text().filter(lambda name: name not in ("v", "seq", "at")), JSON, max_size=3
)


def written(path: Path, facts: list[dict[str, object]]) -> bytes:
    data = b"".join(encode(fact, seq=i, now=NOW) for i, fact in enumerate(facts))
    path.write_bytes(data)
    return data


@given(FACTS)
def test_a_line_reads_back_as_written(fact: dict[str, object]) -> None:
    raw = encode(fact, seq=7, now=NOW)
    line = decode(raw[:-1], 0)
    assert isinstance(line, Line)
    assert (line.seq, line.timestamp) == (7, "2026-01-31T12:00:00.000Z")
    assert {**line.data} == {"v": 1, "seq": 7, "at": line.timestamp, **fact}
    assert raw.count(b"\n") == 1


def test_half_a_surrogate_pair_survives() -> None:
    line = decode(encode({"text": "\ud83d"}, seq=0, now=NOW)[:-1], 0)
    assert isinstance(line, Line)
    assert line.data["text"] == "\ud83d"


@given(st.integers(min_value=0), st.integers(min_value=0, max_value=255))
def test_one_changed_byte_is_noticed(position: int, byte: int) -> None:
    raw = bytearray(encode({"text": "hello"}, seq=0, now=NOW)[:-1])
    index = position % len(raw)
    if raw[index] == byte:
        return
    raw[index] = byte
    assert isinstance(decode(bytes(raw), 0), DamagedLine)


@given(st.lists(st.integers(min_value=0, max_value=90_000), max_size=6))
def test_backwards_is_forwards_reversed(sizes: list[int]) -> None:
    # Sizes around the block of 65,536 bytes are where reading backwards goes wrong.
    path = Path(_directory, "lines.jsonl")
    written(path, [{"text": "x" * size} for size in sizes])
    assert list(read_backwards(path)) == list(read_forwards(path))[::-1]


def test_backwards_from_an_offset_yields_what_is_before_it(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    written(path, [{"n": n} for n in range(5)])
    third = [line for line in read_forwards(path) if isinstance(line, Line)][3]
    before = [line.seq for line in read_backwards(path, end=third.offset) if isinstance(line, Line)]
    assert before == [2, 1, 0]


def test_a_torn_end_is_reported_from_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    data = written(path, [{"n": 1}, {"n": 2}])
    path.write_bytes(data + b'{"c":"half')
    torn = DamagedLine(len(data), 10, "torn")
    assert list(read_forwards(path))[-1] == torn
    assert next(read_backwards(path)) == torn


_directory: str


def setup_module() -> None:
    import tempfile

    global _directory
    _directory = tempfile.mkdtemp()


def teardown_module() -> None:
    import shutil

    shutil.rmtree(_directory)


def test_a_copied_record_keeps_its_time_and_never_its_number() -> None:
    line = decode(encode({"seq": 1, "v": 9, "at": "then"}, seq=7, now=NOW)[:-1], 0)
    assert isinstance(line, Line)
    assert (line.seq, line.version, line.timestamp) == (7, 1, "then")
