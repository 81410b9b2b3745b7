"""The latest conversations of a project by title, for the start screen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from agent.errors import SessionError
from agent.session.archive.summaries import SessionSummary, summarize
from agent.session.store import SessionStore

_MAX_READ: Final = 12
"""Most sessions that are read, as those without a prompt have no title."""


def recent_sessions(
    store: SessionStore, project_dir: Path, without: str, count: int
) -> tuple[SessionSummary, ...]:
    """Return up to `count` sessions with a title, the newest first, except `without`.

    Reads files: do not call it on the event loop. Never raises.
    """
    return tuple(islice(_find_titled(store, project_dir, without), count))


def _find_titled(store: SessionStore, project_dir: Path, without: str) -> Iterator[SessionSummary]:
    for info in store.list(project_dir)[:_MAX_READ]:
        if info.id == without:
            continue
        try:
            summary = summarize(info)
        except SessionError:
            continue
        if summary.title:
            yield summary
