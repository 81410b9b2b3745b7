"""The user's keybindings file: read after the first frame, and again whenever it changes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from permissions.base.files.plain_file import read_start
from permissions.base.text.failure_text import error_reason
from tui.input.keybindings import load_keybindings
from tui.input.keymap import Keymap

FILE_NAME: Final = "keybindings.json"
MAX_BYTES: Final = 1_000_000
COLLECT_MS: Final = 200


def keys_path(agent_home: Path, home: Path) -> Path:
    """Return the file that applies: agent-tui's, or Claude Code's if that does not exist."""
    own, theirs = agent_home / FILE_NAME, home / ".claude" / FILE_NAME
    return theirs if not os.path.exists(own) and os.path.isfile(theirs) else own


async def follow_keys(
    directory: Path,
    defaults: Keymap,
    use: Callable[[Keymap], None],
    notice: Callable[[str, str], None],
    *,
    home: Path | None = None,
) -> None:
    """Apply the file's keys now and after each change; runs until it is cancelled.

    A file that cannot be parsed is reported and leaves the keys unchanged. Claude Code's file in
    `home` is read only at the start, and applies until there is a file in `directory`.
    """
    path = directory / FILE_NAME
    first = keys_path(directory, home) if home is not None else path
    text = await asyncio.to_thread(_read, first)
    if text:
        apply_keys(text, first, defaults, use, notice)
    if not os.path.isdir(directory):
        return
    # Imported here: not needed before the first frame.
    from permissions.base.files.file_watch import file_changes

    try:
        async for _ in file_changes(
            directory,
            watch_filter=lambda _change, name: Path(name).name == FILE_NAME,
            collect_ms=COLLECT_MS,
            recursive=False,
            stop=asyncio.Event(),
        ):
            new_text = await asyncio.to_thread(_read, path)
            if new_text != text:
                text = new_text
                if apply_keys(text, path, defaults, use, notice):
                    notice("Key bindings reloaded", "info")
    except OSError as error:
        notice(
            f"{FILE_NAME} is not watched, so changes take effect at the next start: "
            f"{error_reason(error)}",
            "warning",
        )


def apply_keys(
    text: str,
    path: Path,
    defaults: Keymap,
    use: Callable[[Keymap], None],
    notice: Callable[[str, str], None],
) -> bool:
    """Apply the keys of a file's text; return False, and change nothing, if it cannot be parsed."""
    if not text.strip():
        use(defaults)
        return True
    load_result = load_keybindings(text, defaults)
    if load_result.is_readable:
        use(load_result.keymap)
    for warning in load_result.warnings:
        place = f"{path.name}:{warning.line}" if warning.line else path.name
        notice(f"{place}: {warning.message}", "warning")
    return load_result.is_readable


def _read(path: Path) -> str:
    try:
        return read_start(path, MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
