"""Whatever lies in the place of a small file: it is read whole, or refused at once."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from permissions.base.files.plain_file import read_plain, read_start


def test_a_file_is_read_whole_and_from_its_start(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 200_000)
    assert read_plain(file) == b"x" * 200_000
    assert read_plain(file, 200_000) == b"x" * 200_000
    assert read_start(file, 3) == b"xxx"


def test_a_larger_file_is_refused_however_it_came_to_be_so(tmp_path: Path) -> None:
    file = tmp_path / "f"
    with file.open("wb") as stream:
        stream.truncate(5 << 30)
    with pytest.raises(OSError, match="larger than 1,000 bytes"):
        read_plain(file, 1_000)
    assert read_start(file, 5) == b"\0" * 5


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "socket"])
def test_what_is_no_file_is_refused_at_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "socket":
            monkeypatch.chdir(tmp_path)  # a socket's address is short
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("f")
    with pytest.raises(OSError, match=r"regular file|[Nn]o such device|not supported"):
        read_plain(path)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_a_file_without_a_size_is_read() -> None:
    assert read_plain("/proc/self/status").startswith(b"Name:")
