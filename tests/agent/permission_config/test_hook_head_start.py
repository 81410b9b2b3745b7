"""Hooks answer before a dialog is drawn, where they are quick; where they are not, it is drawn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agent.abort import AbortController
from agent.permission_config.hook_head_start import HookHeadStart
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.handlers import user_decision
from permissions.resolve.race import RaceResult, race

YES = user_decision(Behavior.ALLOW)
NO = user_decision(Behavior.DENY)
CALL = PermissionRequest("Bash", {"command": "ls"}, request_id="r1")


@dataclass
class Scripted:
    """Answers once its event is set; None is no opinion."""

    name: str
    answer: Decision | None = None
    when: asyncio.Event = field(default_factory=asyncio.Event)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        self.was_asked.set()
        await self.when.wait()
        return self.answer


async def run(*contenders: Contender) -> RaceResult:
    return await race(contenders, CALL, NO, AbortController().signal)


async def test_an_answer_in_time_keeps_the_dialog_away() -> None:
    hook, dialog = Scripted("hook", YES), Scripted("dialog", NO)
    start = HookHeadStart(hook, dialog, limit_s=60)
    racing = asyncio.ensure_future(run(start.first, start.second))
    await hook.was_asked.wait()
    hook.when.set()
    assert (await racing).winner == "hook"
    assert not dialog.was_asked.is_set()


async def test_without_an_opinion_the_dialog_comes_at_once() -> None:
    hook, dialog = Scripted("hook"), Scripted("dialog", YES)
    hook.when.set()
    dialog.when.set()
    start = HookHeadStart(hook, dialog, limit_s=60)
    assert (await run(start.first, start.second)).winner == "dialog"


async def test_a_slow_hook_does_not_keep_the_dialog_away() -> None:
    hook, dialog = Scripted("hook", YES), Scripted("dialog", NO)
    start = HookHeadStart(hook, dialog, limit_s=0.01)
    racing = asyncio.ensure_future(run(start.first, start.second))
    await dialog.was_asked.wait()
    hook.when.set()
    assert (await racing).winner == "hook"


async def test_a_dialog_alone_does_not_wait() -> None:
    dialog = Scripted("dialog", YES)
    dialog.when.set()
    start = HookHeadStart(Scripted("hook"), dialog, limit_s=60)
    assert (await run(start.second)).winner == "dialog"
