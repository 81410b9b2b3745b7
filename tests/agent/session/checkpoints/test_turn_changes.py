"""What one prompt changed, from the copies that were kept before it and after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.session.checkpoints.turn_changes import MAX_BYTES, TurnChange
from tests.agent.session.checkpoints.test_checkpoint import Bench, edit


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(Path(os.path.realpath(tmp_path)))
    yield bench
    bench.points.close()


async def write(bench: Bench, name: str, data: str | None) -> None:
    path = bench.root / name
    await bench.points.before_change(path, tool_use_id="u")
    if data is None:
        path.unlink()
    else:
        path.write_text(data)


async def test_each_turn_has_its_own_part_of_a_file_changed_twice(bench: Bench) -> None:
    path = bench.root / "a.txt"
    path.write_text("one")
    await write(bench, "a.txt", "half")
    await write(bench, "a.txt", "two")
    bench.turn = "turn-2"
    await write(bench, "a.txt", "three")
    assert await bench.points.changes_of("turn-1") == (TurnChange(path, "one", "two"),)
    assert await bench.points.changes_of("turn-2") == (TurnChange(path, "two", "three"),)
    path.write_text("four")
    assert await bench.points.changes_of("turn-2") == (TurnChange(path, "two", "four"),)


async def test_new_gone_and_unchanged_files(bench: Bench) -> None:
    for name in ("gone.txt", "same.txt"):
        (bench.root / name).write_text("x")
    await write(bench, "gone.txt", None)
    await write(bench, "new.txt", "n")
    await write(bench, "same.txt", "x")
    assert await bench.points.changes_of("turn-1") == (
        TurnChange(bench.root / "gone.txt", "x", None),
        TurnChange(bench.root / "new.txt", None, "n"),
    )


async def test_what_is_no_text_or_too_large_is_named_with_the_reason(bench: Bench) -> None:
    (bench.root / "a.bin").write_bytes(b"a\0b")
    await write(bench, "a.bin", "text now")
    await write(bench, "b.txt", "x" * (MAX_BYTES + 1))
    notes = [change.note for change in await bench.points.changes_of("turn-1")]
    assert notes[0] == "not text"
    assert "too large" in notes[1]


async def test_a_turn_without_copies_changed_nothing(bench: Bench) -> None:
    assert await bench.points.changes_of("turn-9") == ()


async def test_what_the_user_took_back_was_not_changed(bench: Bench) -> None:
    path = bench.root / "a.txt"
    path.write_text("one")
    await edit(bench, path, "two", "u1")
    undone = await bench.points.undo(("u1",), redo_id="x")
    assert await bench.points.changes_of("turn-1") == ()
    await bench.points.restore(undone.redo_id, redo_id="y")
    assert await bench.points.changes_of("turn-1") == (TurnChange(path, "one", "two"),)
    bench.turn = "turn-2"
    await edit(bench, path, "three", "u2")
    await bench.points.restore("turn-2", redo_id="z")
    assert await bench.points.changes_of("turn-1") == (TurnChange(path, "one", "two"),)
    assert await bench.points.changes_of("turn-2") == (TurnChange(path, "two", "three"),)
