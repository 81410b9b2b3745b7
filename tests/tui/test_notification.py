"""Notification hooks hear when nobody reacts to a question or an answer, and only then."""

from __future__ import annotations

import pytest

from tests.tui.dialogs.test_dialogs import BASH, PENDING
from tests.tui.recorded import RecordedConversation, ask, make_app
from tests.tui.test_app_keys import send, settled


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.waiting_notice.ASK_NOTICE_S", 0.01)
    monkeypatch.setattr("tui.waiting_notice.IDLE_NOTICE_S", 0.01)


async def test_a_question_that_waits_is_told_and_then_the_idle_prompt() -> None:
    conversation = RecordedConversation([[ask(BASH, PENDING)]], wants_notifications=True)
    app = make_app(conversation)
    async with app.run_test() as pilot:
        await send(pilot, "go")
        while not conversation.notified:
            await pilot.pause()
        assert conversation.notified == ["permission_prompt"]
        await pilot.pause(0.25)
        await pilot.press("1")
        while len(conversation.notified) < 2:
            await settled(pilot)
    assert conversation.notified == ["permission_prompt", "idle_prompt"]


async def test_without_a_hook_there_is_no_timer() -> None:
    conversation = RecordedConversation([[]])
    app = make_app(conversation)
    async with app.run_test() as pilot:
        await send(pilot, "go")
        await settled(pilot)
        assert not app.waiting_notice.is_planned
    assert conversation.notified == []
