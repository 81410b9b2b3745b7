"""Agents of a session that a killed program interrupted, and reports it did not deliver."""

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
    """The agents and reports that the end of the program left unfinished."""

    cut_off: tuple[AgentRecord, ...] = ()
    """Agents whose end is not in their transcripts."""
    undelivered_reports: tuple[tuple[AgentRecord, str, str], ...] = ()
    """Reports missing in the session's transcript: the agent's record, outcome, last text."""


def unfinished_agents(session_directory: Path, transcript: Path) -> UnfinishedAgents:
    """Return what an earlier run left unfinished; reads the end of each agent's transcript.

    Agents of workflows are not included: a resumed workflow run starts them again.
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
                answer.on_message(message)
            missing.append((record, reason, answer.text))
    return tuple(missing)
