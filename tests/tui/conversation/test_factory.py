"""Which session's end is shown before anything else is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.messages import user_message
from agent.options import RunOptions
from agent.session.record_json import to_json
from agent.session.records import MessageRecord
from agent.session.store import SessionStore
from tui.conversation.factory import session_to_resume


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path / ".agent")


def session(store: SessionStore, project: Path) -> Path:
    made = store.create(project)
    made.transcript.append(to_json(MessageRecord(user_message("hello"))))
    made.close()
    return made.path


def test_the_latest_of_the_project_or_the_named_one(store: SessionStore, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    path, other = session(store, project), session(store, tmp_path / "other")
    env = {"HOME": str(tmp_path)}
    (project / "inner").mkdir()
    latest = session_to_resume(RunOptions(continue_latest=True), env, project / "inner")
    assert latest == path
    named = session_to_resume(RunOptions(resume=other.stem[:8]), env, project)
    assert named == other


@pytest.mark.parametrize("resume", [None, "ffffffff", "../x"])
def test_where_there_is_none_the_start_reports_it(tmp_path: Path, resume: str | None) -> None:
    options = RunOptions(resume=resume, continue_latest=resume is None)
    env = {"AGENT_TUI_HOME": str(tmp_path / "nowhere")}
    assert session_to_resume(options, env, tmp_path) is None
