"""One row for each agent: name, current activity, usage and duration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from themes.theme import Role
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import clip, runs_width
from tui.transcript.block_rows import short_count
from tui.transcript.tool_card import duration

if TYPE_CHECKING:
    # For annotations only: agents are imported with the first one.
    from agent.subagents.running_agent import RunningAgent

STAYS_S: Final = 30.0
"""How long an agent that failed or was stopped stays on the list."""
MAX_ROWS: Final = 8
_INKS: Final = {
    "waiting": MUTED,
    "working": Ink(Role.ACCENT),
    "asking": Ink(Role.WARNING),
    "completed": Ink(Role.SUCCESS),
    "failed": Ink(Role.ERROR),
    "stopped": MUTED,
}
_COLORS: Final = {
    "red": Ink(Role.ERROR),
    "blue": Ink(Role.ACCENT),
    "green": Ink(Role.SUCCESS),
    "yellow": Ink(Role.WARNING),
    "purple": Ink(Role.MODE_ACCEPT_EDITS),
    "orange": Ink(Role.SYNTAX_NUMBER),
    "pink": Ink(Role.SHELL),
    "cyan": Ink(Role.MODE_PLAN),
}
"""Colors of agent definitions, as the most similar roles of the theme."""
_WORDS: Final = {"asking": "needs you", "waiting": "waits for a slot"}


def list_agents(agents: Sequence[RunningAgent]) -> list[RunningAgent]:
    """Return the agents to show: running and recently failed ones, those that ask the user first.

    Agents of a workflow are part of its row, unless they ask the user.
    """
    visible_agents = [
        agent
        for agent in agents
        if (not agent.task.workflow or agent.state == "asking")
        and (agent.is_running or (agent.state != "completed" and agent.ended_ago_s < STAYS_S))
    ]
    return sorted(visible_agents, key=lambda agent: agent.state != "asking")


def agent_rows(agents: Sequence[RunningAgent], width_cells: int) -> list[Row]:
    """Return the rows of the list; the last one counts the agents that do not fit."""
    visible_agents = list_agents(agents)
    rows = [Row(_runs(agent, width_cells), is_copied=False) for agent in visible_agents[:MAX_ROWS]]
    if len(visible_agents) > MAX_ROWS:
        more = f"   and {len(visible_agents) - MAX_ROWS} more · /tasks"
        rows.append(Row(clip([(more, MUTED)], width_cells), is_copied=False))
    return rows


def _runs(agent: RunningAgent, width_cells: int) -> tuple[Run, ...]:
    indent = "   " + "  " * (agent.depth - 1)
    name: list[Run] = [
        (f"{indent}● ", _INKS[agent.state]),
        (agent.id, _COLORS.get(agent.definition.color or "", TEXT)),
    ]
    figures = f"  {figures_of(agent)}"
    room = max(0, width_cells - runs_width(name) - len(figures) - 3)
    doing = clip([(f"  {activity_of(agent)}", MUTED)], room)
    return tuple(clip([*name, *doing, (figures, MUTED)], width_cells))


def activity_of(agent: RunningAgent) -> str:
    """Return what an agent is doing, or its state."""
    if agent.state in _WORDS:
        return _WORDS[agent.state]
    return shown_line(agent.current or agent.task.description) if agent.is_running else agent.state


def figures_of(agent: RunningAgent) -> str:
    """Return an agent's usage and duration."""
    use = agent.use
    parts = [f"{use.tool_count} tool{'' if use.tool_count == 1 else 's'}"]
    parts.append(f"{short_count(use.tokens)} tok")
    if use.usd:
        parts.append(f"${use.usd:.2f}")
    return " · ".join([*parts, duration(agent.elapsed_s)])
