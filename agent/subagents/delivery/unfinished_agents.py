"""What a killed program left of a session's agents: those cut off, and reports not delivered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from agent.errors import SessionError
from agent.loop.answer_text import AnswerText
from agent.session.records import AgentRecord, TerminalRecord
from agent.session.resume import tail
from agent.subagents.agent_journal import DIRECTORY, messages_of, read_record
from agent.subagents.report_text import report_head


class UnfinishedAgents(Struct, frozen=True):
    """What the end of the program left of a session's agents."""

    cut_off: tuple[AgentRecord, ...] = ()
    """Those whose end is not in their transcripts."""
    undelivered_reports: tuple[tuple[AgentRecord, str, str], ...] = ()
    """Those whose report is not in the session's: the agent, how it ended, its last words."""


def unfinished_agents(session_directory: Path, transcript: Path) -> UnfinishedAgents:
    """Return what a killed program left; reads the end of each agent's transcript.

    Agents of a workflow are left out: the run starts them again when it is continued.
    """
    cut_off: list[AgentRecord] = []
    ended_agents: list[tuple[AgentRecord, str, Path]] = []
    for path in sorted((session_directory / DIRECTORY).glob("*.jsonl")):
        try:
            last = [one for _, one in tail(path, limit=2)]
            record = read_record(path)
        except SessionError:
            continue
        if record is None or record.workflow:
            continue
        match last:
            case [AgentRecord(in_background=True) as background, TerminalRecord() as end]:
                ended_agents.append((background, end.reason, path))
            case [*_, TerminalRecord()]:
                continue
            case _:
                cut_off.append(record)
    return UnfinishedAgents(tuple(cut_off), _find_undelivered(ended_agents, transcript))


def _find_undelivered(
    ended_agents: Sequence[tuple[AgentRecord, str, Path]], transcript: Path
) -> tuple[tuple[AgentRecord, str, str], ...]:
    if not ended_agents:
        return ()
    try:
        transcript_data = transcript.read_bytes()
    except OSError:
        return ()
    missing: list[tuple[AgentRecord, str, str]] = []
    for record, reason, path in ended_agents:
        head = json.dumps(report_head(record.agent_id, record.runs))[1:-1].encode()
        if record.parent_id is None and head not in transcript_data:
            answer = AnswerText()
            for message in messages_of(path):
                answer.see(message)
            missing.append((record, reason, answer.text))
    return tuple(missing)
