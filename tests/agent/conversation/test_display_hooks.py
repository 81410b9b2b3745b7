"""Text on its way to the screen, through MessageDisplay hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent.abort import AbortController, AbortSignal
from agent.conversation.display_hooks import DisplayHooks
from agent.events import AgentEvent, Complete, HookFinished, TextDelta, Tombstone, Usage
from agent.hook_events.hook_dispatch import HookDispatch
from tests.agent.hook_events.test_hook_dispatch import dispatch_for, specific

END = Complete("t", "m", "end_turn", Usage())


def text(*pieces: str, uid: str = "m", block: int = 0) -> list[AgentEvent]:
    return [TextDelta("t", uid, block, piece) for piece in pieces]


class Screen:
    """What is shown of events, and what hooks were told."""

    def __init__(
        self,
        tmp_path: Path,
        answer: Mapping[str, object] | None,
        *,
        replaces: bool = True,
        takes_s: float = 0.0,
    ) -> None:
        def spend() -> None:
            self.now += takes_s

        answers = {} if answer == {} else {"MessageDisplay": answer}
        self.dispatch: HookDispatch
        self.dispatch, self.heard = dispatch_for(tmp_path, answers, on_call=spend)
        self.dispatch.firing.begin_turn("t", "p")
        self.now = 0.0
        self.display = DisplayHooks(self.dispatch, replaces=replaces, clock=lambda: self.now)

    async def show(
        self, events: Sequence[AgentEvent], abort: AbortSignal | None = None
    ) -> list[str]:
        shown: list[str] = []
        for event in events:
            for out in await self.display.replace_event(event, abort or AbortController().signal):
                shown.append(out.text if isinstance(out, TextDelta) else out.type)
        return shown

    @property
    def batches(self) -> list[tuple[object, object, object]]:
        return [(p["index"], p["delta"], p["final"]) for p in self.heard]


async def test_without_a_hook_nothing_waits(tmp_path: Path) -> None:
    screen = Screen(tmp_path, {})
    assert await screen.show([*text("a", "b\n"), END]) == ["a", "b\n", "complete"]


async def test_hooks_get_whole_lines_and_a_final_batch(tmp_path: Path) -> None:
    screen = Screen(tmp_path, None)
    shown = await screen.show([*text("one\ntw", "o\n", "three", "\n"), END])
    assert shown == ["one\n", "two\n", "three\n", "complete"]
    assert screen.batches == [(0, "one\n", False), (1, "two\n", False), (2, "three\n", True)]
    assert {(p["turn_id"], p["message_id"]) for p in screen.heard} == {("t", "m")}


async def test_what_a_hook_answers_is_shown_instead(tmp_path: Path) -> None:
    screen = Screen(tmp_path, specific("MessageDisplay", displayContent="***\n"))
    assert await screen.show([*text("secret\nmore"), END]) == ["***\n", "***\n", "complete"]


async def test_an_empty_answer_hides_the_lines(tmp_path: Path) -> None:
    screen = Screen(tmp_path, specific("MessageDisplay", displayContent=""))
    assert await screen.show([*text("secret"), END]) == ["", "complete"]


async def test_without_a_screen_hooks_receive_events_and_change_nothing(tmp_path: Path) -> None:
    answer = specific("MessageDisplay", displayContent="***")
    screen = Screen(tmp_path, answer, replaces=False)
    assert await screen.show([*text("plain"), END]) == ["plain", "complete"]
    assert screen.batches == [(0, "plain", True)]


async def test_each_message_and_block_begins_anew(tmp_path: Path) -> None:
    screen = Screen(tmp_path, None)
    events = [*text("a"), *text("b", block=2), END, *text("c", uid="n"), END]
    await screen.show(events)
    assert screen.batches == [(0, "a", True), (1, "b", True), (0, "c", True)]


async def test_a_slow_hook_gets_more_lines_at_a_time(tmp_path: Path) -> None:
    screen = Screen(tmp_path, None, takes_s=1.0)
    await screen.show([*text("1\n2", "\n3", "\n4"), END])
    assert [delta for _, delta, _ in screen.batches] == ["1\n", "2\n3\n4"]


async def test_an_interrupted_text_is_shown_without_asking(tmp_path: Path) -> None:
    screen = Screen(tmp_path, None)
    controller = AbortController()
    controller.abort("stop")
    assert await screen.show([*text("half"), END], controller.signal) == ["half", "complete"]
    assert screen.heard == []


async def test_withdrawn_text_is_dropped(tmp_path: Path) -> None:
    screen = Screen(tmp_path, None)
    assert await screen.show([*text("half"), Tombstone("t", "m", "retry")]) == ["tombstone"]


async def test_a_hook_that_fails_each_time_is_reported_once(tmp_path: Path) -> None:
    screen = Screen(tmp_path, {"hookSpecificOutput": {"displayContent": "x"}})
    assert await screen.show([*text("1\n2\n3\n4"), END]) == ["1\n2\n3\n", "4", "complete"]
    finished = [e for e in screen.dispatch.notices() if isinstance(e, HookFinished)]
    assert [len(event.notices) for event in finished] == [1, 0]
