"""Settings that a pipe brings: read once, to their end, never for ever."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from permissions.base.files.named_pipe import PipeError, text_of_pipe
from permissions.base.files.plain_file import MAX_BYTES


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def written(pipe: Path, *pieces: bytes) -> threading.Thread:
    def write() -> None:
        try:
            with pipe.open("wb", buffering=0) as file:
                for piece in pieces:
                    file.write(piece)
        except BrokenPipeError:
            pass  # it was too much

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end(pipe: Path) -> None:
    writer = written(pipe, b"\xef\xbb\xbf{", b'"model": ', b'"\xc3\xa9"}')
    assert text_of_pipe(str(pipe)) == '{"model": "é"}'
    writer.join()


@pytest.mark.parametrize(
    ("said", "says"), [(b"\xff", "UTF-8"), (b" " * (MAX_BYTES + 1), "more than")]
)
def test_what_is_no_text_or_too_much_is_refused(pipe: Path, said: bytes, says: str) -> None:
    writer = written(pipe, said)
    with pytest.raises(PipeError, match=says):
        text_of_pipe(str(pipe))
    writer.join()


def test_a_pipe_that_no_one_writes_to_is_not_waited_for_for_ever(pipe: Path) -> None:
    with pytest.raises(PipeError, match="in time"):
        text_of_pipe(str(pipe), wait_s=0.01)


@pytest.mark.parametrize("name", ["missing", "file", ".", '{"model": "x"}', "a\0b", "x" * 5000])
def test_anything_else_is_left_to_whoever_reads_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("{}")
    assert text_of_pipe(name) is None
