"""Stores unsent text when the program ends, and moves it to the next resumed session."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from agent.errors import SessionError
from agent.session.prompt_log import PromptLog, TypedPrompt
from agent.session.record_json import to_json
from agent.session.records import DraftRecord, QueueRecord
from agent.session.resume import load
from agent.session.store import Session, SessionInfo, SessionStore
from agent.settings.project_root import find_project_root


def store_unsent(
    agent_home: Path, launch_dir: Path, prompts: Sequence[str], draft: str, *, version: str
) -> None:
    """Create a session with only unsent text, which the next `--continue` restores.

    `prompts` are the queued prompts, oldest first; `draft` is the draft.

    Raises:
        OSError, SessionError: it cannot be written.
    """
    store = SessionStore(agent_home, version=version)
    session = store.create(find_project_root(launch_dir), launch_dir=launch_dir)
    try:
        session.transcript.append(to_json(QueueRecord(tuple(prompts))))
        session.transcript.append(to_json(DraftRecord(draft)), sync=True)
    finally:
        session.close()


def take_over_drafts(store: SessionStore, target: SessionInfo, session: Session) -> None:
    """Move unsent text of newer sessions without a prompt into the draft of a resumed one.

    Those sessions are removed once their text is on disk here.

    Raises:
        SessionError: the draft cannot be written; the other sessions are unchanged.
    """
    unsent = store.unsent_after(target)
    if not unsent:
        return
    states = [load(info.path) for info in (target, *unsent)]
    texts = [
        states[0].draft,
        *(t for state in states[1:] for t in (*state.queued_prompts, state.draft)),
    ]
    draft = "\n\n".join(text for text in texts if text)
    session.transcript.append(to_json(DraftRecord(draft)), sync=True)
    for info in unsent:
        # One that was opened in the meantime stays, and its text is in both.
        with contextlib.suppress(SessionError):
            store.delete(info.id)


def remember_unsent(agent_home: Path, launch_dir: Path, texts: Sequence[str]) -> None:
    """Add texts to the prompt log, for the Up key, as a resumed session has its own draft.

    Raises:
        OSError: they cannot be written.
    """
    log = PromptLog(agent_home, find_project_root(launch_dir))
    for text in filter(None, texts):
        log.add(TypedPrompt(text, "", time.time()))
