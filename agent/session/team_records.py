"""Records of a team in a transcript: membership, received messages, permission answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct


class TeamMembershipRecord(Struct, frozen=True):
    """This session is a member of a team; a process that resumes it is that member."""

    agent_id: str
    """Id of the member, `name@team`."""
    team: str
    leader_id: str
    kind: Literal["team-membership"] = "team-membership"


class MailRecord(Struct, frozen=True):
    """A message of another member was received; written before its file is deleted."""

    message: Mapping[str, object]
    """A `TeamMessage` as JSON."""
    kind: Literal["mail"] = "mail"


class MailAnswerRecord(Struct, frozen=True):
    """A worker's permission request was answered; written before the answer is sent."""

    request_id: str
    to: str
    decision: Mapping[str, object]
    kind: Literal["mail_answer"] = "mail_answer"
