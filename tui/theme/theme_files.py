"""The user's own themes, read again whenever one is saved; and the setting that names one."""

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
    """Return what the user's settings name; None where they name none.

    Only the one value is read: the settings as a whole come after the first frame.
    """
    name = user_values(agent_home).get("theme")
    return name if isinstance(name, str) and name else None


def known_background(agent_home: Path) -> bool | None:
    """Return whether the terminal was dark at its last report; None where it never did.

    The first frame is drawn before a terminal can answer, and should not change at once.
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
    from permissions.base.files.private_file import write_private  # with the first answer

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

    Runs until it is cancelled; ends where there is no folder of the user's own, or none that can
    be watched: what is on the disk counts at the next start.
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
    # With the watching itself: nothing is watched before the first frame.
    from permissions.base.files.file_watch import file_changes

    theme_name, settings = named_theme(agent_home), agent_home / SETTINGS
    while True:
        directories = [directory for directory in themes_dir if os.path.isdir(directory)]
        places = [agent_home, *directories]
        watching = file_changes(
            *places,
            watch_filter=lambda _change, name: _matters(Path(name), agent_home, themes_dir),
            collect_ms=COLLECT_MS,
            recursive=False,
            stop=asyncio.Event(),
        )
        # Closed before the next one begins.
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


def _matters(path: Path, agent_home: Path, themes_dir: tuple[Path, ...]) -> bool:
    return (
        path in themes_dir
        or path == agent_home / SETTINGS
        or (path.parent in themes_dir and path.suffix in ENDINGS)
    )
