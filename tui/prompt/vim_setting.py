"""Enables vim's keys in the prompt according to the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent.settings.user_values import user_values
from tui.input.event import RoutedEvent
from tui.prompt.composer import Composer

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from agent.settings.schema import SettingsFile
    from tui.editing.vim.keys import KeyUse

VimPreference = tuple[bool, Mapping[str, str] | None]
"""Whether vim's keys are enabled, and the remaps that leave insert mode."""


class VimSetting:
    """Follows `editorMode` and `vimInsertModeRemaps` while the settings change."""

    def __init__(
        self,
        composer: Composer,
        commands: Callable[[], CommandService | None],
        agent_home: Callable[[], Path | None],
        on_mode: Callable[[], object],
    ) -> None:
        """`commands` has the settings; before it exists, the user's file in `agent_home` applies.

        `on_mode` is called when the vim mode changes.
        """
        self._composer = composer
        self._commands = commands
        self._agent_home = agent_home
        self._on_mode = on_mode
        self._values: SettingsFile | None = None
        self._preference: VimPreference | None = None

    def press(self, event: RoutedEvent) -> KeyUse:
        """Apply the settings if they have changed, then pass a key to vim's keys."""
        command_service = self._commands()
        values = command_service.context.settings().values if command_service is not None else None
        if values is not None and values is not self._values:
            self._values = values
            self._follow((values.editorMode == "vim", values.vimInsertModeRemaps))
        elif self._preference is None:
            self._follow(_early_preference(self._agent_home()))
        old_mode = self._composer.vim.mode
        use = self._composer.vim.press(event.key, event.text)
        if self._composer.vim.mode != old_mode:
            self._on_mode()
        return use

    def _follow(self, preference: VimPreference) -> None:
        old_preference, self._preference = self._preference, preference
        if preference != (old_preference or (False, None)):
            self._composer.vim.use(preference[0], preference[1])


def _early_preference(agent_home: Path | None) -> VimPreference:
    """Return the preference in the user's settings file, for keys typed right after the start.

    The settings as a whole are read after the first frame, and apply from then on.
    """
    values = user_values(agent_home) if agent_home is not None else {}
    if values.get("editorMode") != "vim":
        return False, None
    remaps = values.get("vimInsertModeRemaps")
    pairs = remaps.items() if isinstance(remaps, dict) else ()
    targets = {str(keys): target for keys, target in pairs if isinstance(target, str)}
    return True, targets or None
