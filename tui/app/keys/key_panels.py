"""Panels that are opened by keys and not by commands: keys, palette, detail of calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tui.app.key_table import KeyTable
from tui.ports.command_screen import CommandScreen
from tui.transcript.blocks import ToolCard
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.transcript_widget import TranscriptWidget


class KeyPanels:
    """Opens the panels, whose modules are imported at the first use."""

    def __init__(
        self,
        screen: CommandScreen,
        table: KeyTable,
        document: TranscriptModel,
        transcript: TranscriptWidget,
        submit: Callable[[str], None],
        start_command: Callable[[Awaitable[None]], None],
    ) -> None:
        """`submit` runs a command that is chosen in the palette."""
        self._screen = screen
        self._table = table
        self._document = document
        self._transcript = transcript
        self._submit = submit
        self._start_command = start_command

    def open_palette(self) -> None:
        """Open the palette of all actions and commands."""
        from tui.panels.palette import open_palette

        self._start_command(open_palette(self._screen, self._table.perform, self._submit))

    def show_keys(self) -> None:
        """Open the overview of keys."""
        from tui.panels.keys_overlay import open_keys

        self._start_command(open_keys(self._screen))

    def choose_detail(self) -> None:
        """Open the panel that sets the level of detail for each tool's calls."""
        from tui.panels.tool_detail import open_tool_detail

        levels = self._transcript.viewport.levels
        cards = (block for block in self._document.blocks if isinstance(block, ToolCard))
        tools = list(dict.fromkeys((*levels, *(card.name for card in cards))))
        self._start_command(
            open_tool_detail(self._screen, tools, levels, self._transcript.set_levels)
        )
