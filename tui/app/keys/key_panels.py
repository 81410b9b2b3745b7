"""Panels that keys open and no command does: keys, the palette, the detail of tools' calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from tui.ports.command_screen import CommandScreen
from tui.transcript.blocks import ToolCard
from tui.transcript.model import TranscriptModel
from tui.transcript.widget import TranscriptWidget


class PanelHost(CommandScreen, Protocol):
    """The screen as these panels see it."""

    document: TranscriptModel
    transcript: TranscriptWidget

    def submit(self, text: str) -> None: ...
    def start_worker(self, work: Awaitable[None]) -> None: ...


class OwnPanels:
    """Opens them; their modules are imported with the first one."""

    def __init__(self, host: PanelHost) -> None:
        """Take the screen."""
        self._host = host

    def open_palette(self, perform: Callable[[str], None]) -> None:
        """Offer everything that can be done; `perform` does an action."""
        from tui.panels.palette import open_palette

        self._host.start_worker(open_palette(self._host, perform, self._host.submit))

    def show_keys(self) -> None:
        """Show the keys that matter."""
        from tui.panels.keys_overlay import open_keys

        self._host.start_worker(open_keys(self._host))

    def choose_detail(self) -> None:
        """Let the user say how much is shown of each tool's calls."""
        from tui.panels.tool_detail import open_tool_detail

        host = self._host
        levels = host.transcript.viewport.levels
        cards = (block for block in host.document.blocks if isinstance(block, ToolCard))
        tools = list(dict.fromkeys((*levels, *(card.name for card in cards))))
        host.start_worker(open_tool_detail(host, tools, levels, host.transcript.set_levels))
