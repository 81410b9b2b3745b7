"""The team file: the leader, the members, and what each works on.

Only the leader writes the file, atomically; workers read who their leader is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from agent.events import Usage
from agent.teams.lease import LeaseTaken, holder
from agent.teams.team_message import LEADER, TeamError, agent_id, checked_name
from permissions.base.files.private_file import make_private_dir, write_private

VERSION: Final = 1
ExecutorName = Literal["in-process", "process", "tmux", "kitty", "wezterm", "iterm2"]
MemberStatus = Literal["working", "idle", "failed", "stopped"]
OnFailure = Literal["continue", "stop_all", "retry"]


class MemberEntry(Struct, frozen=True, kw_only=True):
    """One worker of a team."""

    name: str
    agent_id: str
    session_id: str
    executor: ExecutorName
    subtask: str
    """The worker's subtask."""
    color: str
    tools: tuple[str, ...] = ()
    agent_type: str | None = None
    """Name of its agent definition; None means the general one."""
    tool_use_id: str = ""
    """Id of the tool call that started it."""
    task_id: str | None = None
    on_failure: OnFailure = "continue"
    status: MemberStatus = "working"
    last_report: str = ""
    """Id of its last report."""
    is_retried: bool = False
    """Whether it was asked to try again after a failure."""
    starts: int = 1
    """How often it was started for its current task."""
    counted: Usage = field(default_factory=Usage)
    """The part of its usage that is in the totals of the team's leaders."""


class TeamFile(Struct, frozen=True, kw_only=True):
    """A team."""

    name: str
    leader_session: str
    leader_id: str
    members: tuple[MemberEntry, ...] = ()
    version: int = VERSION

    def member(self, name: str) -> MemberEntry | None:
        """Return a worker by its name or id; None if there is none."""
        matches = (one for one in self.members if name in {one.name, one.agent_id})
        return next(matches, None)

    def with_member(self, entry: MemberEntry) -> TeamFile:
        """Return the team with this entry, which replaces one of the same name."""
        names = [one.name for one in self.members]
        if entry.name not in names:
            return replace(self, members=(*self.members, entry))
        members = tuple(entry if one.name == entry.name else one for one in self.members)
        return replace(self, members=members)

    def without(self, name: str) -> TeamFile:
        """Return the team without the worker of this name."""
        return replace(self, members=tuple(one for one in self.members if one.name != name))


class TeamPlace(Struct, frozen=True):
    """Where a team's files are."""

    directory: Path
    name: str

    @classmethod
    def of(cls, agent_home: Path, name: str) -> TeamPlace:
        """Return the place of the team of this name. Raises TeamError for an invalid name."""
        return cls(agent_home / "teams" / checked_name(name, "team"), name)

    @property
    def file(self) -> Path:
        """The team file."""
        return self.directory / "team.json"

    @property
    def members(self) -> Path:
        """Directory that contains a directory for each member."""
        return self.directory / "agents"

    @property
    def tasks(self) -> Path:
        """The task list."""
        return self.directory / "tasks.json"

    def member_dir(self, name: str) -> Path:
        """Return a member's directory, by its name or id."""
        return self.members / checked_name(name.partition("@")[0], "team member")

    def lease(self, name: str) -> Path:
        """Return the file that a member locks while it lives."""
        return self.member_dir(name) / "lease"

    @property
    def leader_lease(self) -> Path:
        """The leader's lease file."""
        return self.lease(LEADER)


def read_team(place: TeamPlace) -> TeamFile | None:
    """Return the team, or None if there is none yet.

    Raises:
        TeamError: the file cannot be read, or is not a team file of this version.
    """
    advice = "Move it away to start the team again; its messages and transcripts stay."
    try:
        team = msgspec.json.decode(place.file.read_bytes(), type=TeamFile)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TeamError(f"The team file {place.file} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TeamError(f"The team file {place.file} is damaged ({error}). {advice}") from error
    if team.version != VERSION or team.name != place.name:
        raise TeamError(f"The team file {place.file} is not one of this version. {advice}")
    return team


def write_team(place: TeamPlace, team: TeamFile) -> None:
    """Replace the team file. Raises TeamError if it cannot be written."""
    try:
        write_private(place.file, msgspec.json.format(msgspec.json.encode(team), indent=2))
    except OSError as error:
        raise TeamError(
            f"The team file {place.file} cannot be written: {error.strerror}. Set "
            "AGENT_TUI_HOME to a writable folder: a team keeps its files there."
        ) from error


def open_team(place: TeamPlace, leader_session: str) -> TeamFile:
    """Return the team, created if there is none, with this session as its leader.

    Raises:
        TeamError: see `read_team` and `write_team`.
    """
    team_file = read_team(place)
    leader = agent_id(LEADER, place.name)
    team = (
        TeamFile(name=place.name, leader_session=leader_session, leader_id=leader)
        if team_file is None
        else replace(team_file, leader_session=leader_session, leader_id=leader)
    )
    try:
        make_private_dir(place.members)
    except OSError as error:
        raise TeamError(f"{place.directory} cannot be created: {error.strerror}.") from error
    write_team(place, team)
    return team


def check_lead(agent_home: Path, name: str) -> None:
    """Check that a session can start to lead a team of this name.

    Raises:
        TeamError: the name is invalid, its file is unusable, or another process leads the team.
    """
    place = TeamPlace.of(agent_home, name)
    read_team(place)
    if (leader := holder(place.leader_lease)) is not None:
        raise LeaseTaken(
            f"The leader of the team {name} is already running, in process {leader or '?'}."
        )
