"""A picture from the clipboard, by way of programs that may be missing or hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.files import clipboard_image
from agent.files.clipboard_image import read_clipboard_image


def program(directory: Path, name: str, text: str) -> dict[str, str]:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return {"PATH": f"{directory}:/usr/bin:/bin", "DISPLAY": ":0"}


async def test_a_picture_comes_back(tmp_path: Path) -> None:
    env = program(tmp_path, "xclip", r"printf '\211PNG\r\n\032\nrest'")
    assert await read_clipboard_image(env) == b"\x89PNG\r\n\x1a\nrest"


async def test_text_is_no_picture(tmp_path: Path) -> None:
    assert await read_clipboard_image(program(tmp_path, "xclip", "echo text")) is None


async def test_without_a_program_there_is_nothing(tmp_path: Path) -> None:
    assert await read_clipboard_image({"PATH": str(tmp_path), "DISPLAY": ":0"}) is None


async def test_a_program_that_hangs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard_image, "TIMEOUT_S", 0.2)
    assert await read_clipboard_image(program(tmp_path, "xclip", "exec sleep 100")) is None
