"""Recordings of a program are what asciinema reads, with whole characters."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.cast import as_cast
from benchmarks.program import Output, Typed
from tests.repo.checkout import ROOT


def recorded(pieces: list[bytes]) -> list[list[object]]:
    events = [Output(10.0 + number, piece) for number, piece in enumerate(pieces)]
    text = as_cast([Typed(9.0, b"x"), *events], columns=80, rows=24, title="t", start_s=10.0)
    # Not `splitlines`: a recording may hold other characters that end a line.
    header, *lines = [json.loads(line) for line in text.rstrip("\n").split("\n")]
    assert (header["version"], header["width"], header["height"]) == (2, 80, 24)
    return lines


@given(st.text(max_size=40), st.lists(st.integers(0, 160), max_size=8))
@example("\x85\u2028", [])
def test_text_survives_any_cut(text: str, cuts: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[a:b] for a, b in pairwise(places)]
    lines = recorded(pieces)
    assert "".join(str(line[2]) for line in lines) == data.decode()


def test_times_count_from_the_start() -> None:
    assert recorded([b"a", b"b"]) == [[0.0, "o", "a"], [1.0, "o", "b"]]


def test_the_recorded_demo_can_be_played() -> None:
    lines = (ROOT / "docs" / "images" / "demo.cast").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines[1:]]
    assert json.loads(lines[0])["version"] == 2
    assert all(kind == "o" for _, kind, _ in events)
    assert [at for at, _, _ in events] == sorted(at for at, _, _ in events)
    assert len(events) > 20
