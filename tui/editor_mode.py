"""Keeps the prompt's keys as the settings have them: readline's alone, or vim's on top."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.components.composer import Composer
from tui.input.event import RoutedEvent

if TYPE_CHECKING:
    from agent.commands.center import CommandCenter
    from agent.settings.schema import SettingsFile
    from tui.text.vim.keys import KeyUse


class EditorMode:
    """Follows `editorMode` and `vimInsertModeRemaps` while the settings change."""

    def __init__(self, composer: Composer, commands: Callable[[], CommandCenter | None]) -> None:
        """Take where the settings are; before there is a conversation there are none."""
        self._composer = composer
        self._commands = commands
        self._values: SettingsFile | None = None

    def press(self, event: RoutedEvent) -> KeyUse:
        """Let vim's keys have a key, where the person wants them."""
        center = self._commands()
        values = center.context.settings().values if center is not None else None
        if values is not None and values is not self._values:
            self._follow(values)
        return self._composer.press_vim(event.key, event.text)

    def _follow(self, values: SettingsFile) -> None:
        before, self._values = self._values, values
        wanted = (values.editorMode == "vim", values.vimInsertModeRemaps)
        known = (
            (before.editorMode == "vim", before.vimInsertModeRemaps) if before else (False, None)
        )
        if wanted != known:
            self._composer.use_vim(wanted[0], wanted[1])
