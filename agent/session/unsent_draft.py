"""What was typed before its conversation existed: stored when the program is ended then."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from agent.session.prompt_log import PromptLog, TypedPrompt
from agent.session.records import DraftRecord, QueueRecord, to_json
from agent.session.store import SessionStore
from agent.settings.locations import find_project_root


def store_unsent(
    agent_home: Path, launch_dir: Path, sent: Sequence[str], draft: str, *, version: str
) -> None:
    """Make a session that contains nothing else: the next `--continue` restores it to the prompt.

    `sent` are prompts that nobody has taken, oldest first; `draft` was not sent.

    Raises:
        OSError, SessionError: it cannot be written.
    """
    store = SessionStore(agent_home, version=version)
    session = store.create(find_project_root(launch_dir), launch_dir=launch_dir)
    try:
        session.transcript.append(to_json(QueueRecord(tuple(sent))))
        session.transcript.append(to_json(DraftRecord(draft)), sync=True)
    finally:
        session.close()


def remember_unsent(agent_home: Path, launch_dir: Path, texts: Sequence[str]) -> None:
    """Put texts where the Up key finds them: a session that is resumed retains its own draft.

    Raises:
        OSError: they cannot be written.
    """
    log = PromptLog(agent_home, find_project_root(launch_dir))
    for text in filter(None, texts):
        log.add(TypedPrompt(text, "", time.time()))
