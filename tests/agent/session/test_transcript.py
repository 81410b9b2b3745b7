"""Appending under bad conditions: torn ends, locks between processes, full and read-only disks."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import SessionError, SessionLocked
from agent.session.record_lines import DamagedLine, Line
from agent.session.transcript import Transcript

ROOT = Path(__file__).parents[3]


def texts(path: Path) -> list[object]:
    with Transcript.open(path) as transcript:
        return [found.data["text"] for found in transcript.records() if isinstance(found, Line)]


def filled(path: Path, count: int = 3) -> bytes:
    with Transcript.create(path) as transcript:
        for number in range(count):
            transcript.append({"text": f"record {number} äöü 🙂"}, sync=True)
    return path.read_bytes()


def test_a_transcript_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "project" / "a.jsonl"
    Transcript.create(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_create_refuses_a_path_that_is_taken_also_by_a_link(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SessionError, match="cannot be created"):
        Transcript.create(tmp_path / "a.jsonl")
    assert not (tmp_path / "elsewhere").exists()


def test_a_tail_torn_at_any_byte_is_mended(tmp_path: Path) -> None:
    whole = filled(tmp_path / "whole.jsonl")
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 0x0A]
    for cut in range(len(whole) + 1):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        complete = sum(1 for end in ends if end <= cut)
        with Transcript.open(path) as transcript:
            assert bool(transcript.repairs) == (cut not in (0, *ends)), cut
            transcript.append({"text": "next"})
        found = texts(path)
        assert found == [f"record {n} äöü 🙂" for n in range(complete)] + ["next"], cut
        path.unlink()


def test_numbers_continue_after_reopening(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    filled(path)
    with Transcript.open(path) as transcript:
        transcript.append({"text": "more"})
        lines = [line.seq for line in transcript.records() if isinstance(line, Line)]
    assert lines == [0, 1, 2, 3]


def test_a_damaged_line_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    data = filled(path)
    path.write_bytes(data.replace(b"record 1", b"record X"))
    with Transcript.open(path) as transcript:
        assert transcript.repairs == ()
        found = list(transcript.records())
    assert [type(line) for line in found] == [Line, DamagedLine, Line]


def test_a_newer_version_is_not_appended_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    with monkeypatch.context() as newer:
        newer.setattr("agent.session.record_lines.FORMAT_VERSION", 2)
        filled(path)
    before = path.read_bytes()
    with pytest.raises(SessionError, match="newer version"):
        Transcript.open(path)
    assert path.read_bytes() == before


def test_a_second_process_is_refused_and_learns_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    filled(path)
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from agent.session.transcript import Transcript;"
            "t = Transcript.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()",
            str(path),
        ],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(SessionLocked) as caught:
            Transcript.open(path)
        assert caught.value.holder_pid == holder.pid
        # However it ends, the lock goes with the process.
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        Transcript.open(path).close()
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


@pytest.fixture
def small_files() -> Iterator[int]:
    """Limit the size of every file this process writes, as a full disk would."""
    limit = 4096
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield limit
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_loses_nothing_and_leaves_no_half_line(
    tmp_path: Path, small_files: int
) -> None:
    path = tmp_path / "a.jsonl"
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    with Transcript.create(path) as transcript:
        sent = []
        for number in range(12):
            sent.append(f"{number} " + "x" * 500)
            if number < 4:
                transcript.append({"text": sent[-1]})
                continue
            with contextlib.suppress(SessionError):
                transcript.append({"text": sent[-1]})
        assert transcript.unsaved_count > 0
        with pytest.raises(SessionError, match="cannot be written"):
            transcript.sync()
        assert path.stat().st_size <= small_files
        assert path.read_bytes().endswith(b"\n")
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        transcript.sync()
        assert transcript.unsaved_count == 0
    assert texts(path) == sent


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_read_only_home_explains_what_to_do(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SessionError, match="AGENT_TUI_HOME"):
        Transcript.create(tmp_path / "sessions" / "a.jsonl")


def test_a_home_that_is_a_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("in the way")
    with pytest.raises(SessionError, match="cannot be created"):
        Transcript.create(tmp_path / "sessions" / "a.jsonl")


def test_closing_twice_is_harmless_and_writing_afterwards_is_not(tmp_path: Path) -> None:
    transcript = Transcript.create(tmp_path / "a.jsonl")
    transcript.close()
    transcript.close()
    with pytest.raises(SessionError, match="closed"):
        transcript.append({"text": "late"})
