"""`/tasks`: what background commands write is seen while they write it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.tui.app.test_app_keys import settled, text_of
from tests.tui.recorded import RecordedConversation, make_app
from tui.panels import tasks


async def test_output_is_followed_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "POLL_S", 0.01)
    os.mkfifo(tmp_path / "gate")
    conversation = RecordedConversation([])
    assert conversation.commands is not None
    shells = conversation.commands.context.shells
    command = "seq 1 40; cat gate; echo fi''nis; exit 3"
    shell = await shells.start(command, cwd=tmp_path, env=dict(os.environ), results_dir=tmp_path)
    shells.to_background(shell)
    app = make_app(conversation)
    async with app.run_test(size=(80, 24)) as pilot:

        async def shows(text: str) -> None:
            async with asyncio.timeout(20):
                while text not in text_of(app.parts.dialogs):
                    await settled(pilot)

        await settled(pilot)
        app.parts.submission.submit("/tasks")
        await shows("running")
        await pilot.press("enter")
        await shows("   40")
        await pilot.press("up", "up")
        await asyncio.to_thread((tmp_path / "gate").write_text, "more\n")
        await shell.wait()
        # Who reads further up is left there; at the end again, the end is followed.
        await settled(pilot)
        assert "finis" not in text_of(app.parts.dialogs)
        await pilot.press("G")
        await shows("finis")
        await pilot.press("escape")
        await shows("ended with 3")
        await pilot.press("escape")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
    await shells.kill_all()


async def test_what_the_user_stopped_is_no_failure(tmp_path: Path) -> None:
    conversation = RecordedConversation([])
    assert conversation.commands is not None
    shells = conversation.commands.context.shells
    shell = await shells.start("sleep 76", cwd=tmp_path, env=dict(os.environ), results_dir=tmp_path)
    shells.to_background(shell)
    await shell.stop()
    assert tasks._item(shell).detail == "stopped"
    await shells.kill_all()
