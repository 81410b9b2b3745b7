"""Notification hooks hear when nobody reacts to a question or an answer, and only then."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from textual.timer import Timer

from tests.tui.app.test_app_keys import send, settled
from tests.tui.dialogs.test_dialogs import BASH, PENDING
from tests.tui.recorded import RecordedConversation, ask, make_app
from tui.app.idle_notification import IdleNotification


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.app.idle_notification.ASK_NOTICE_S", 0.01)
    monkeypatch.setattr("tui.app.idle_notification.IDLE_NOTICE_S", 0.01)


async def test_a_question_that_waits_is_reported_and_then_the_idle_prompt() -> None:
    conversation = RecordedConversation([[ask(BASH, PENDING)]], wants_notifications=True)
    app = make_app(conversation, clock=time.monotonic)
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
        assert app.parts.idle_notification._timer is None
    assert conversation.notified == []


def test_keys_put_it_off_without_another_timer() -> None:
    conversation = RecordedConversation([], wants_notifications=True)
    waits: list[tuple[float, Callable[[], None]]] = []
    now_s = [100.0]

    class Plan:
        def stop(self) -> None: ...

    def set_timer(after_s: float, then: Callable[[], None]) -> Timer:
        waits.append((after_s, then))
        return cast(Timer, Plan())

    told: list[Awaitable[None]] = []
    notice = IdleNotification(lambda: conversation, set_timer, told.append, lambda: now_s[0])
    notice.postpone()
    assert waits == []
    notice.question_open()
    after_s = waits[0][0]
    now_s[0] += after_s / 2
    notice.postpone()
    assert len(waits) == 1
    now_s[0] += after_s / 2
    waits[0][1]()
    assert told == []
    assert waits[1][0] == pytest.approx(after_s / 2)
    now_s[0] += after_s
    waits[1][1]()
    assert len(told) == 1
    told[0].close()  # type: ignore[attr-defined]
    notice.postpone()
    assert len(waits) == 2, "the hooks have run already"
