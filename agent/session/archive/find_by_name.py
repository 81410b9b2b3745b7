"""Finds sessions by an id, the start of one, or a title."""

from __future__ import annotations

from typing import Final

from agent.errors import SessionError, SeveralSessions
from agent.session.archive.summaries import summarize
from agent.session.store import SessionInfo, SessionStore

MAX_LOOKED_AT: Final = 500
"""Most sessions whose title is read, the newest first."""


def find_session(store: SessionStore, text: str) -> SessionInfo:
    """Find a session by its id, or else by the start of its title, ignoring case.

    An exact match takes precedence; of several exact matches, the newest.

    Raises:
        SessionError: there is none, or several titles start with the text.
    """
    try:
        return store.get(text)
    except SessionError as error:
        beginning = _find_titled(store, text)
        if len(beginning) == 1:
            return beginning[0]
        if beginning:
            ids = ", ".join(info.id[:8] for info in beginning[:5])
            raise SessionError(
                f"Several sessions begin with {text!r}: {ids}. Type more of the name, or an id."
            ) from error
        if isinstance(error, SeveralSessions):
            raise
        raise SessionError(
            f"{text!r} is not a session id or name here. `agent-tui sessions list` shows them."
        ) from error


def _find_titled(store: SessionStore, text: str) -> list[SessionInfo]:
    """Return the newest session with this title, or else all whose title starts with it."""
    prefix = " ".join(text.casefold().split())
    candidates = [(_title(info), info) for info in store.list()[:MAX_LOOKED_AT]] if prefix else []
    same = [info for title, info in candidates if title == prefix]
    return same[:1] or [info for title, info in candidates if title.startswith(prefix)]


def _title(info: SessionInfo) -> str:
    try:
        return " ".join(summarize(info).title.casefold().split())
    except SessionError:
        return ""
