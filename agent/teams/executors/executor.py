"""Where workers run: one protocol with three implementations, transparent to the leader.

Next: `agent.teams.executors.in_process`, `agent.teams.executors.own_process`,
`agent.teams.executors.panes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from agent.options import RunOptions
from agent.teams.team_file import ExecutorName, TeamPlace
from agent.teams.team_message import TeamError
from permissions.base.files.private_file import write_private
from permissions.base.text.failure_text import error_reason

START_FILE = "start.json"
"""File in a member's directory with its start configuration."""


class SpawnConfig(Struct, frozen=True, kw_only=True):
    """The start configuration of a worker; its task arrives in its mailbox."""

    agent_id: str
    team: str
    team_dir: Path
    leader_id: str
    color: str
    cwd: Path
    options: RunOptions
    grace_s: float
    """How long, in seconds, it waits for a leader that is gone."""
    env: dict[str, str] = {}
    """Environment of a process that does not inherit the leader's."""

    @property
    def name(self) -> str:
        """The worker's name inside the team."""
        return self.agent_id.partition("@")[0]

    @property
    def place(self) -> TeamPlace:
        """The directory of the team's files."""
        return TeamPlace(self.team_dir, self.team)


class SpawnResult(Struct, frozen=True):
    """A worker that has been started."""

    agent_id: str
    executor: ExecutorName
    pane: str = ""
    """The terminal's id of its pane."""


class TeammateExecutor(Protocol):
    """Starts and ends workers. Messages to them go through their mailboxes."""

    @property
    def name(self) -> ExecutorName:
        """The name of this executor."""
        ...

    async def spawn(self, config: SpawnConfig) -> SpawnResult:
        """Start a worker. Raises TeamError if that is not possible."""
        ...

    def adopt(self, agent_id: str) -> None:
        """Watch a live worker that an earlier leader started."""
        ...

    async def terminate(self, agent_id: str) -> bool:
        """End a worker that did not end itself; return whether it was running."""
        ...


OnDeath = Callable[[str], None]
"""Called with the id of a worker whose process or task has ended for any reason."""


def write_start(place: TeamPlace, config: SpawnConfig, *, env: Mapping[str, str]) -> Path:
    """Write a start configuration (mode 0600) and return its file. Raises TeamError."""
    path = place.member_dir(config.agent_id) / START_FILE
    whole = msgspec.structs.replace(config, env=dict(env))
    try:
        write_private(path, msgspec.json.encode(whole, enc_hook=str))
    except OSError as error:
        raise TeamError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def read_start(path: Path) -> SpawnConfig:
    """Return the start configuration in a file. Raises TeamError."""

    def as_path(kind: type[Any], value: object) -> object:
        # Definitions of `--agents` are arbitrary JSON.
        return value if kind is object else kind(value)

    try:
        return msgspec.json.decode(path.read_bytes(), type=SpawnConfig, dec_hook=as_path)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TeamError(
            f"{path} does not say what to start: {error_reason(error, names_file=False)}."
        ) from error
