"""The end of an agent's transcript, followed while it works: the cost is that of a screen or two,
however long the transcript is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from agent.errors import SessionError
from agent.session.archive.transcript_export import recent
from agent.subagents.running_agent import RunningAgent
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.text.styled_rows import Row
from tui.transcript.agent_rows import doing_of, figures_of

LOOK_S: Final = 0.5
"""How often the view looks for more, while it is open and the agent works."""
MAX_RECORDS: Final = 300
MAX_CHARS: Final = 60_000
"""What is shown of a transcript; all of it is in its file."""


async def show_agent(screen: CommandScreen, agent: RunningAgent) -> str | None:
    """Show what an agent was told, what it did and said; return the key that closed it.

    `m` is for a message and `delete` for its end; None is Esc.
    """
    text = await asyncio.to_thread(_text, agent)
    shown = [text]

    def rows(width: int) -> Sequence[Row]:
        return text_rows(shown[0])(width)

    panel = TextPanel(
        f"{agent.id}  {agent.task.description}",
        rows,
        follows_end=True,
        keys={"m": "message", "delete": "stop"},
    )

    def redraw(text: str) -> None:
        shown[0] = text
        panel.redraw()

    watch = asyncio.ensure_future(_follow(agent, text, redraw))
    try:
        return await screen.show_dialog(panel)
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
    """Return the end of the transcript as text; its last line says what happens now."""
    try:
        words, is_whole = recent(agent.transcript, records=MAX_RECORDS, chars=MAX_CHARS)
    except SessionError:
        words, is_whole = agent.task.prompt, True
    head = "" if is_whole else f"(what was before is in {agent.transcript})\n\n"
    return f"{head}{words.strip()}\n\n{doing_of(agent)} · {figures_of(agent)}"
