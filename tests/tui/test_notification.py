"""Notification hooks hear when nobody reacts to a question or an answer, and only then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from textual.timer import Timer

from tests.tui.dialogs.test_dialogs import BASH, PENDING
from tests.tui.recorded import RecordedConversation, ask, make_app
from tests.tui.test_app_keys import send, settled
from tui.waiting_notice import WaitingNotice


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


def test_keys_put_it_off_and_nothing_is_put_off_that_is_not_planned() -> None:
    conversation = RecordedConversation([], wants_notifications=True)
    waits: list[tuple[float, Callable[[], None]]] = []
    stopped: list[bool] = []

    class Plan:
        def stop(self) -> None:
            stopped.append(True)

    def set_timer(after_s: float, then: Callable[[], None]) -> Timer:
        waits.append((after_s, then))
        return cast(Timer, Plan())

    told: list[Awaitable[None]] = []
    notice = WaitingNotice(lambda: conversation, set_timer, told.append)
    notice.touched()
    assert waits == []
    notice.run_over()
    notice.touched()
    assert len(waits) == 2
    assert waits[0][0] == waits[1][0]
    assert stopped == [True]
    waits[1][1]()
    assert len(told) == 1
    told[0].close()  # type: ignore[attr-defined]
    notice.touched()
    assert len(waits) == 2, "it was told already"
