"""Reloads the user's own themes when a file changes, and reads the setting that names one."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Final

from agent.settings.user_values import user_values
from permissions.base.files.plain_file import read_text
from themes.registry import ENDINGS

SETTINGS: Final = "settings.json"
BACKGROUND: Final = "cache/background"
COLLECT_MS: Final = 200


def named_theme(agent_home: Path) -> str | None:
    """Return the theme's name in the user's settings; None if they name none.

    Only this value is read: the settings as a whole are loaded after the first frame.
    """
    name = user_values(agent_home).get("theme")
    return name if isinstance(name, str) and name else None


def known_background(agent_home: Path) -> bool | None:
    """Return whether the terminal was last reported as dark; None if it never reported.

    The first frame is drawn before the terminal can reply, and its theme should not change then.
    """
    try:
        value = read_text(agent_home / BACKGROUND) or ""
    except (OSError, ValueError):
        return None
    return {"dark": True, "light": False}.get(value.strip())


def remember_background(agent_home: Path, is_dark: bool) -> None:
    """Store the terminal's report for the next start; without a home directory store nothing."""
    if known_background(agent_home) is is_dark or not os.path.isdir(agent_home):
        return
    from permissions.base.files.private_file import write_private  # imported with the first reply

    with contextlib.suppress(OSError):
        text = b"dark" if is_dark else b"light"
        write_private(agent_home / BACKGROUND, text, sync=False)


async def follow_themes(
    agent_home: Path,
    themes_dir: tuple[Path, ...],
    *,
    reload: Callable[[], None],
    choose: Callable[[str], None],
) -> None:
    """Call `reload` when a theme file changed and `choose` when the settings name another theme.

    Runs until it is cancelled; returns if `agent_home` does not exist or cannot be watched.
    Then changes take effect at the next start.
    """
    if os.path.isdir(agent_home):
        with contextlib.suppress(OSError):
            await _follow(agent_home, themes_dir, reload, choose)


async def _follow(
    agent_home: Path,
    themes_dir: tuple[Path, ...],
    reload: Callable[[], None],
    choose: Callable[[str], None],
) -> None:
    # Imported here: nothing is watched before the first frame.
    from permissions.base.files.file_watch import file_changes

    theme_name, settings = named_theme(agent_home), agent_home / SETTINGS
    while True:
        directories = [directory for directory in themes_dir if os.path.isdir(directory)]
        places = [agent_home, *directories]
        watching = file_changes(
            *places,
            watch_filter=lambda _change, name: _affects_themes(Path(name), agent_home, themes_dir),
            collect_ms=COLLECT_MS,
            recursive=False,
            stop=asyncio.Event(),
        )
        # Closed before watching starts again.
        async for changes in watching:
            paths = {Path(name) for _, name in changes or ()}
            now_named = named_theme(agent_home)
            if now_named != theme_name and now_named is not None:
                choose(now_named)
            elif changes is None or any(path.suffix in ENDINGS for path in paths - {settings}):
                reload()
            theme_name = now_named
            if [directory for directory in themes_dir if os.path.isdir(directory)] != directories:
                reload()
                break
        if isinstance(watching, AsyncGenerator):
            await watching.aclose()


def _affects_themes(path: Path, agent_home: Path, themes_dir: tuple[Path, ...]) -> bool:
    return (
        path in themes_dir
        or path == agent_home / SETTINGS
        or (path.parent in themes_dir and path.suffix in ENDINGS)
    )
