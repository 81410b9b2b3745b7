"""The transcript of one agent: its own session file, in the directory of the session.

It is read by the same code as a session, so that an agent can be continued after it has ended, even
in a later run of the program. Next: `agent.session.session_recorder`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.display import Display
from agent.errors import SessionError
from agent.events import AgentEvent, UsageUpdate
from agent.messages import Block, Message, ToolUse
from agent.session.record_json import from_json, to_json
from agent.session.record_lines import Line, read_forwards
from agent.session.records import AgentRecord, SessionHeader
from agent.session.resume import load
from agent.session.session_recorder import Redact, SessionRecorder
from agent.session.store import Session
from agent.session.transcript import Transcript
from agent.tools.call import CallRecorder

DIRECTORY = "agents"


def journal_path(session_directory: Path, agent_id: str) -> Path:
    """Return the path of an agent's transcript."""
    return session_directory / DIRECTORY / f"{agent_id}.jsonl"


class AgentJournal:
    """Writes one agent's events; if the file cannot be opened, nothing is written."""

    def __init__(self, path: Path, *, redact: Redact | None = None) -> None:
        """Open the file, or create it."""
        self._recorder: SessionRecorder | None = None
        self.is_new = not path.exists()
        try:
            transcript = Transcript.create(path) if self.is_new else Transcript.open(path)
        except SessionError:
            return
        self._recorder = SessionRecorder(Session(path.stem, transcript), redact=redact)

    async def begin(self, record: AgentRecord, project: Path, version: str) -> None:
        """Write the header and the agent's record to a new transcript."""
        if self._recorder is None or not self.is_new:
            return
        header = SessionHeader(record.agent_id, str(project), str(project), version)
        self._recorder.session.transcript.append(to_json(header))
        await self._recorder.write(record)

    async def end_in_background(self, record: AgentRecord) -> None:
        """Record that the report of the end that follows is delivered later.

        See `agent.subagents.delivery.unfinished_agents`.
        """
        if self._recorder is not None:
            await self._recorder.write(record)

    async def prompt(self, turn_id: str, text: str) -> None:
        """Record that the agent begins a turn with this prompt."""
        if self._recorder is not None:
            await self._recorder.prompt(turn_id, text)

    async def event(self, event: AgentEvent, history: Sequence[Message]) -> None:
        """Record an event of the agent like a session does; `history` is the agent's."""
        if self._recorder is not None and not isinstance(event, UsageUpdate):
            await self._recorder.event(replace(event, agent_id=None), history)

    async def tool_started(
        self, call: ToolUse, tool_input: Mapping[str, object], agent_id: str | None
    ) -> None:
        """See `agent.tools.call.CallRecorder`."""
        if self._recorder is not None:
            await self._recorder.tool_started(call, tool_input, None)

    async def tool_ended(
        self, call: ToolUse, block: Block, outcome: str, elapsed_s: float, identifier: str,
        agent_id: str | None, display: Display | None = None,
    ) -> None:  # fmt: skip
        """See `agent.tools.call.CallRecorder`."""
        if self._recorder is not None:
            await self._recorder.tool_ended(
                call, block, outcome, elapsed_s, identifier, None, display
            )

    async def aclose(self) -> None:
        """Close the file and release its lock."""
        if self._recorder is not None:
            await self._recorder.aclose()


def messages_of(path: Path) -> tuple[Message, ...]:
    """Return the history of an agent that has ended. Raises SessionError."""
    return load(path).messages


def read_record(path: Path) -> AgentRecord | None:
    """Return the record of a transcript's agent; None if it has none. Raises SessionError."""
    try:
        for line in islice(read_forwards(path), 3):
            if isinstance(line, Line) and line.data.get("kind") == "agent":
                record = from_json(line.data)
                return record if isinstance(record, AgentRecord) else None
    except OSError as error:
        raise SessionError(f"{path} cannot be read: {error.strerror}") from error
    return None


if TYPE_CHECKING:

    def _check_protocol(journal: AgentJournal) -> CallRecorder:
        return journal
