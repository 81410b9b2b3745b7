"""A session file from elsewhere brings no rights with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.session.record_json import to_json
from agent.session.records import GrantsRecord, ModeRecord
from agent.session.resume import load
from agent.session.session_recorder import SessionRecorder
from agent.session.session_seal import SessionSeal
from agent.session.store import SessionStore

GRANTS = GrantsRecord((("allow", "Bash(npm test)"),), ("/srv/other",), ("example.org",))


async def _written(home: Path, project: Path) -> tuple[SessionStore, str]:
    store = SessionStore(home)
    session = store.create(project)
    recorder = SessionRecorder(session, seal=SessionSeal(home, session.id, project))
    await recorder.prompt("t1", "Test it")
    await recorder.write(GRANTS)
    await recorder.mode("acceptEdits")
    await recorder.aclose()
    return store, session.id


async def test_what_was_given_here_is_restored_also_in_a_copy(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    store, session_id = await _written(home, project)
    resumed = SessionSeal(home, session_id, project).check(load(store.get(session_id).path))
    assert (resumed.grants.grants, resumed.mode) == (GRANTS.grants, "acceptEdits")
    assert resumed.notes == ()
    copy = store.fork(session_id)
    in_copy = SessionSeal(home, copy.id, project).check(load(copy.path))
    assert (in_copy.grants.grants, in_copy.mode, in_copy.notes) == ((), "acceptEdits", ())


@pytest.mark.parametrize("change", ["home", "project", "session", "content"])
async def test_what_was_given_elsewhere_is_not(tmp_path: Path, change: str) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    store, session_id = await _written(home, project)
    path = store.get(session_id).path
    seal = SessionSeal(
        tmp_path / "other" if change == "home" else home,
        "another" if change == "session" else session_id,
        tmp_path / "other" if change == "project" else project,
    )
    if change == "content":
        session = store.open(session_id)
        own = load(path).grants
        more = GrantsRecord((("allow", "Bash"),), seal=own.seal)
        session.transcript.append(to_json(more))
        session.transcript.append(to_json(ModeRecord("bypassPermissions", seal=own.seal)))
        session.close()
    resumed = seal.check(load(path))
    assert resumed.grants == GrantsRecord()
    assert "Not restored: " in resumed.notes[-1]
    kinds = [record.kind for record in resumed.states]
    assert "grants" not in kinds
    assert ("mode" in kinds) is (change in ("project", "session")), "a mode is for every project"
    if change in ("home", "content"):
        assert resumed.mode is None
