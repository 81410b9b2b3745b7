"""Finds the file of the session that a start resumes, before settings and model are read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from agent.options import RunOptions


def session_to_resume(options: RunOptions, env: Mapping[str, str], launch_dir: Path) -> Path | None:
    """Return the session's file; None where there is none: the start itself says why."""
    from agent.errors import SessionError  # a start without a resume needs none of it
    from agent.session.archive.find_by_name import find_session
    from agent.session.store import SessionStore
    from agent.settings.locations import find_agent_home, find_home, find_project_root

    home = find_home(env, os.getuid())
    store = SessionStore(find_agent_home(env, home))
    try:
        if options.resume:
            return find_session(store, options.resume).path
        found = store.latest(find_project_root(launch_dir))
    except (SessionError, OSError):
        return None
    return found.path if found is not None else None
