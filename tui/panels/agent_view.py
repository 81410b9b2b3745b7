"""The transcript of one agent, followed while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from agent.errors import SessionError
from agent.session.archive.transcript_export import export
from agent.subagents.running_agent import RunningAgent
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import Row
from tui.transcript.agent_rows import doing_of, figures_of

LOOK_S: Final = 0.5
"""How often the view looks for more, while it is open and the agent works."""


async def show_agent(screen: CommandScreen, agent: RunningAgent) -> None:
    """Show what an agent was told, what it did and said; closed with Esc."""
    text = await asyncio.to_thread(_text, agent)
    shown = [text]

    def rows(width: int) -> Sequence[Row]:
        return text_rows(shown[0])(width)

    panel = TextPanel(f"{agent.id}  {agent.task.description}", rows, follows_end=True)

    def redraw(text: str) -> None:
        shown[0] = text
        panel.redraw()

    watch = asyncio.ensure_future(_follow(agent, text, redraw))
    try:
        await screen.show_dialog(panel)
    finally:
        watch.cancel()
        await asyncio.wait({watch})


async def _follow(agent: RunningAgent, shown: str, redraw: Callable[[str], None]) -> None:
    is_over = False
    while not is_over:
        await asyncio.sleep(LOOK_S)
        is_over = not agent.is_running
        text = await asyncio.to_thread(_text, agent)
        if text != shown:
            shown = text
            redraw(text)


def _text(agent: RunningAgent) -> str:
    """Return the transcript as text; the line at its end says what happens now."""
    try:
        words = export(agent.transcript, "markdown")
    except SessionError:
        words = agent.task.prompt
    return f"{words.rstrip()}\n\n{doing_of(agent)} · {figures_of(agent)}"
