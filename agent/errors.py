"""The exceptions of the agent package.

    AgentError
    ├── UsageError          the command line or a setting asks for something impossible
    ├── ConfigError         a settings file that must apply cannot be used
    │   └── FlagError       the file was named on the command line; also a UsageError
    ├── SessionError        a transcript cannot be opened, read or appended to
    │   ├── SessionLocked   another process appends to this session
    │   └── SeveralSessions an abbreviated id matches several sessions
    ├── OutputError         the answer cannot be written to its destination
    ├── SwitchRefused       another model cannot be used
    └── ModelError          one model request failed (agent.model.client)

A tool never raises through the loop: its failures are results (`agent.tools.lifecycle`).
"""

from __future__ import annotations


class AgentError(Exception):
    """Base of every error this package raises on purpose; the text is for users."""

    session_id: str = ""
    """The session that the error ended; empty if none was opened."""


class UsageError(AgentError):
    """What was asked for cannot be done; explains what to type instead."""


class ConfigError(AgentError):
    """A settings file that must not be skipped (policy, `--settings`) is unusable."""


class FlagError(ConfigError, UsageError):
    """Settings or servers that the command line names or contains cannot be used."""


class SwitchRefused(AgentError):
    """The model is not switched: a PreModelSwitch hook refuses, or its provider cannot be used."""


class SessionError(AgentError):
    """A session's transcript cannot be opened, read or appended to."""


class SeveralSessions(SessionError):
    """An abbreviated id matches several sessions."""


class OutputError(AgentError):
    """Standard output accepts no more data; the text states where the answer is."""


class SessionLocked(SessionError):
    """Another process has this session open for appending."""

    def __init__(self, session_id: str, holder_pid: int | None) -> None:
        """`holder_pid` is None if the platform does not report it."""
        self.session_id = session_id
        self.holder_pid = holder_pid
        who = f"process {holder_pid}" if holder_pid else "another process"
        super().__init__(
            f"Session {session_id} is open in {who}. "
            f"Close it there, or use --fork-session to continue in a copy."
        )
