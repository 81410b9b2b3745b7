"""Words typed before there was a conversation come back with the next `--continue`."""

from __future__ import annotations

from pathlib import Path

from agent.session.prompt_log import PromptLog
from agent.session.resume import load
from agent.session.store import SessionStore
from agent.session.unsent_draft import remember_unsent, store_unsent


def test_what_was_sent_and_what_was_typed_come_back_in_order(tmp_path: Path) -> None:
    home, directory = tmp_path / "home", tmp_path / "repository" / "deep"
    (directory.parent / ".git").mkdir(parents=True)
    directory.mkdir()
    store_unsent(home, directory, ["first", "second"], "half a th", version="1")
    found = SessionStore(home).latest(directory.parent)
    assert found is not None
    resumed = load(found.path)
    assert (resumed.queued, resumed.draft) == (("first", "second"), "half a th")
    assert resumed.messages == ()
    SessionStore(home).open(found.id).close()  # nobody holds it


def test_of_a_session_that_is_resumed_the_draft_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    remember_unsent(home, tmp_path, ["first", "", "second"])
    recent = PromptLog(home, tmp_path).recent(9)
    assert [prompt.text for prompt in recent] == ["second", "first"]
    assert SessionStore(home).list() == ()
