"""The team events in a session's transcript, including those before a compaction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field

from agent.errors import SessionError
from agent.messages import Message
from agent.session.record_json import UnreadableRecord, from_json
from agent.session.record_lines import Line, read_forwards
from agent.session.records import MessageRecord, TerminalRecord
from agent.session.team_records import MailAnswerRecord, MailRecord, TeamMembershipRecord
from agent.teams.team_message import TeamMessage


class TeamHistory(Struct):
    """The history of one team so far."""

    team: str
    membership: TeamMembershipRecord | None = None
    mail: list[TeamMessage] = field(default_factory=list)
    """Everything received, oldest first."""
    delivered_ids: set[str] = field(default_factory=set)
    """Ids of the messages that were delivered to the model."""
    answers: dict[str, MailAnswerRecord] = field(default_factory=dict)
    """Answers to permission requests, by request id."""
    synthesized_ids: set[str] = field(default_factory=set)
    """Ids of the reports that are part of a finished synthesis."""
    open_turn: str | None = None
    """Id of the turn that has not ended, if there is one."""
    last_turn: str | None = None
    """Id of the last turn that ended."""
    last_reason: str = ""
    """How that turn ended."""
    last_text: str = ""
    """The last text of the model."""

    @property
    def undelivered_messages(self) -> list[TeamMessage]:
        """Messages that the model did not receive because the program was killed."""
        kinds = {"task", "text", "report"}
        return [m for m in self.mail if m.kind in kinds and m.id not in self.delivered_ids]

    @property
    def open_requests(self) -> list[TeamMessage]:
        """Permission requests that were neither answered nor withdrawn."""
        withdrawn_ids = {
            str(m.data.get("request_id")) for m in self.mail if m.kind == "permission_withdrawn"
        }
        closed_ids = withdrawn_ids | self.answers.keys()
        return [m for m in self.mail if m.kind == "permission_request" and m.id not in closed_ids]

    def see(self, record: object) -> None:
        """Process the next record."""
        match record:
            case TeamMembershipRecord():
                self.membership = record
            case MailRecord():
                message = _message(record.message)
                if message.to.endswith(f"@{self.team}"):
                    self.mail.append(message)
            case MailAnswerRecord():
                self.answers[record.request_id] = record
            case MessageRecord(agent_id=None):
                self._see_message(record.message, record.turn_id)
            case TerminalRecord():
                self.open_turn, self.last_turn = None, record.turn_id
                self.last_reason = record.reason
            case _:
                pass

    def _see_message(self, message: Message, turn_id: str) -> None:
        self.open_turn = turn_id
        self.delivered_ids.add(message.uid)
        if message.role == "assistant" and message.text.strip():
            self.last_text = message.text
            if self._answers_synthesis:
                self.synthesized_ids.update(m.id for m in self.mail if m.kind == "report")
        self._answers_synthesis = message.origin == "synthesis"

    _answers_synthesis: bool = False


def read_team_history(path: Path, team: str) -> TeamHistory:
    """Read a transcript's history of `team`; earlier teams are ignored. Raises SessionError."""
    history = TeamHistory(team)
    try:
        for line in read_forwards(path):
            if isinstance(line, Line):
                try:
                    history.see(from_json(line.data))
                except (UnreadableRecord, msgspec.ValidationError):
                    continue  # reported when the session is resumed
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    return history


def _message(data: Mapping[str, object]) -> TeamMessage:
    return msgspec.convert(data, TeamMessage)
