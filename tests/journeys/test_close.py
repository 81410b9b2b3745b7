"""The end of a conversation: everything is released, whatever fails on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.assembly.assemble import UserPorts, assemble, settings_for
from agent.options import RunOptions
from agent.session.store import SessionStore
from tests.journeys.start import model_at, user_at


async def test_an_end_that_fails_keeps_no_other_from_ending(
    tmp_path: Path, fresh_home: Path
) -> None:
    ended: list[str] = []

    async def fails() -> None:
        ended.append("fails")
        raise OSError("the disk is gone")

    async def ends() -> None:
        ended.append("ends")

    environment = user_at(fresh_home, tmp_path)
    options = RunOptions()
    setup = model_at("http://127.0.0.1:9")
    assembled = await assemble(
        options,
        environment,
        settings_for(options, environment),
        setup,
        UserPorts(),
        on_close=(fails, ends),
    )
    session_id = assembled.conversation.view.session_id
    await assembled.conversation.controls.rename("kept")
    with pytest.raises(OSError, match="the disk is gone"):
        await assembled.conversation.aclose()
    assert ended == ["fails", "ends"]
    # Held by nobody: it can be opened again.
    SessionStore(environment.agent_home).open(session_id).close()
