"""A picture from the clipboard, by way of programs that may be missing or hang."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.files import clipboard_image
from agent.files.clipboard_image import ClipboardUnreachable, read_clipboard_image


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


@pytest.mark.parametrize(
    ("variables", "advice"),
    [
        ({"DISPLAY": ":0"}, "install xclip, which has the program xclip"),
        (
            {"DISPLAY": ":0", "WAYLAND_DISPLAY": "w"},
            "install wl-clipboard, which has the program wl-paste",
        ),
        ({}, "neither WAYLAND_DISPLAY nor DISPLAY is set in this environment"),
    ],
)
async def test_a_clipboard_that_no_program_can_read_is_not_called_empty(
    variables: dict[str, str], advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(ClipboardUnreachable, match=advice):
        await read_clipboard_image({"PATH": str(tmp_path), **variables})


async def test_on_macos_the_missing_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(ClipboardUnreachable, match="install pngpaste"):
        await read_clipboard_image({"PATH": str(tmp_path)})


async def test_a_program_that_hangs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard_image, "TIMEOUT_S", 0.2)
    assert await read_clipboard_image(program(tmp_path, "xclip", "exec sleep 100")) is None
