"""Notes to the model about servers: their tools, their instructions, and why one is missing.

Each is sent once, at the end of the history, and never withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from agent.mcp.live.offered_tools import OfferedTools
from agent.mcp.server_state import ServerState, ServerView

MAX_NAMES: Final = 400
"""Most names of deferred tools of one server; the rest is only counted."""


class _SentNote(Struct, frozen=True):
    state: ServerState
    reason: str = ""
    waiting: tuple[str, ...] = ()
    instructions: str = ""


class ServerNotes:
    """Compares the servers with the notes that the model has."""

    def __init__(
        self,
        views: Callable[[], Sequence[ServerView]],
        tools: OfferedTools,
        withholds_instructions: Callable[[str], bool],
    ) -> None:
        """Start without notes."""
        self._views = views
        self._tools = tools
        self._withholds_instructions = withholds_instructions
        self._notes_by_name: dict[str, _SentNote] = {}

    def news(self) -> str | None:
        """Return a note about changes since the last one; None if there are none."""
        lines: list[str] = []
        for view in self._views():
            now = self._state_of(view)
            previous = self._notes_by_name.get(view.name)
            if now != previous and view.state is not ServerState.DISABLED:
                lines.extend(self._lines(view, now, previous))
            elif view.state is ServerState.DISABLED and _was_connected(previous):
                lines.append(f"- {view.name}: turned off; its tools are gone")
            self._notes_by_name[view.name] = now
        old_names = self._notes_by_name.keys() - {view.name for view in self._views()}
        for name in sorted(old_names):
            if _was_connected(self._notes_by_name.pop(name)):
                lines.append(f"- {name}: removed; its tools are gone")
        return "MCP servers:\n" + "\n".join(lines) if lines else None

    def _state_of(self, view: ServerView) -> _SentNote:
        is_connected = view.state is ServerState.CONNECTED
        return _SentNote(
            view.state,
            "" if is_connected else view.reason,
            self._tools.waiting(view.name) if is_connected else (),
            self._instructions(view) if is_connected else "",
        )

    def _instructions(self, view: ServerView) -> str:
        return "" if self._withholds_instructions(view.name) else view.offer.instructions

    def _lines(self, view: ServerView, now: _SentNote, previous: _SentNote | None) -> list[str]:
        name = view.name
        match now.state:
            case ServerState.CONNECTED:
                return self._connection_parts(view, now, previous)
            case ServerState.NEEDS_AUTH:
                return [
                    f"- {name}: waits for the user to sign in (/mcp); it has no tools till then"
                ]
            case ServerState.FAILED:
                return [f"- {name}: not connected ({now.reason}); it has no tools"]
            case _ if previous is not None and previous.state is ServerState.CONNECTED:
                return [f"- {name}: the connection was lost and is made again"]
            case _:
                return [f"- {name}: being connected; its tools are announced when they are there"]

    def _connection_parts(
        self, view: ServerView, now: _SentNote, previous: _SentNote | None
    ) -> list[str]:
        count = len(self._tools.names(view.name))
        parts = [f"- {view.name}: connected, {count} tool{'' if count == 1 else 's'}"]
        fresh = [name for name in now.waiting if previous is None or name not in previous.waiting]
        if fresh:
            more = f" and {len(fresh) - MAX_NAMES} more" if len(fresh) > MAX_NAMES else ""
            verb = "workers can be given" if self._tools.is_for_workers else "load with ToolSearch"
            parts.append(f"  {verb}: {', '.join(fresh[:MAX_NAMES])}{more}")
        if view.offer.resources and previous is None and self._tools.has_resources:
            count = len(view.offer.resources)
            parts.append(f"  {count} resources: load ListMcpResourcesTool, ReadMcpResourceTool")
        if now.instructions and (previous is None or now.instructions != previous.instructions):
            text = now.instructions.replace("\n", "\n  ")
            parts.append(f"  the server describes itself (its text, not the user's):\n  {text}")
        return parts


def _was_connected(note: _SentNote | None) -> bool:
    return note is not None and note.state is ServerState.CONNECTED
