"""Where workers run: one protocol, three ways. The leader does not know which one it is.

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
"""In a member's directory: what its process is started with."""


class SpawnConfig(Struct, frozen=True, kw_only=True):
    """What a worker is started with; its task comes through its mailbox."""

    agent_id: str
    team: str
    team_dir: Path
    leader_id: str
    color: str
    cwd: Path
    options: RunOptions
    grace_s: float
    """How long it waits for a leader that is gone."""
    env: dict[str, str] = {}
    """Set for a process that does not inherit the leader's."""

    @property
    def name(self) -> str:
        """The worker's name inside the team."""
        return self.agent_id.partition("@")[0]

    @property
    def place(self) -> TeamPlace:
        """Where the team's files are."""
        return TeamPlace(self.team_dir, self.team)


class SpawnResult(Struct, frozen=True):
    """A worker that was started."""

    agent_id: str
    executor: ExecutorName
    pane: str = ""
    """What the terminal calls its pane."""


class TeammateExecutor(Protocol):
    """Starts workers and ends them. What is sent to them goes through their mailbox."""

    @property
    def name(self) -> ExecutorName:
        """Which one it is."""
        ...

    async def spawn(self, config: SpawnConfig) -> SpawnResult:
        """Start a worker. Raises TeamError where that is not possible."""
        ...

    def adopt(self, agent_id: str) -> None:
        """Watch a worker that an earlier leader started, and that is alive."""
        ...

    async def terminate(self, agent_id: str) -> bool:
        """End a worker that did not end by itself; return whether there was one."""
        ...


OnDeath = Callable[[str], None]
"""Receives the id of a worker whose process or task has ended, however it ended."""


def write_start(place: TeamPlace, config: SpawnConfig, *, env: Mapping[str, str]) -> Path:
    """Write what a process is started with (0600) and return the file. Raises TeamError."""
    path = place.member_dir(config.agent_id) / START_FILE
    whole = msgspec.structs.replace(config, env=dict(env))
    try:
        write_private(path, msgspec.json.encode(whole, enc_hook=str))
    except OSError as error:
        raise TeamError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def read_start(path: Path) -> SpawnConfig:
    """Return what a process is started with. Raises TeamError."""

    def as_path(kind: type[Any], value: object) -> object:
        # Definitions of `--agents` are whatever JSON they are.
        return value if kind is object else kind(value)

    try:
        return msgspec.json.decode(path.read_bytes(), type=SpawnConfig, dec_hook=as_path)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TeamError(
            f"{path} does not say what to start: {error_reason(error, names_file=False)}."
        ) from error
