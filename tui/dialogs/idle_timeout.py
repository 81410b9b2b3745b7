"""Submits questions automatically when the user is away (`askUserQuestionTimeout`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Final

from tui.dialogs.dialog import run_alongside

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from tui.dialogs.question import QuestionDialog

LIMITS_S: Final[Mapping[str, float]] = {"60s": 60.0, "5m": 300.0, "10m": 600.0}


def limit_of(command_service: CommandService | None) -> float | None:
    """Return after how many seconds without a key a form is submitted as it is; None: never."""
    if command_service is None:
        return None
    return LIMITS_S.get(command_service.context.settings().values.askUserQuestionTimeout or "never")


async def wait_with_idle_limit(
    dialog: QuestionDialog,
    answers: Awaitable[Mapping[str, str] | None],
    limit_s: float | None,
) -> Mapping[str, str] | None:
    """Wait for the answers; submit the form as it is after `limit_s` seconds without a key."""
    if limit_s is None:
        return await answers
    async with run_alongside(_watch(dialog, limit_s)):
        return await answers


async def _watch(dialog: QuestionDialog, limit_s: float) -> None:
    loop = asyncio.get_running_loop()
    left_s = limit_s
    while left_s > 0:
        # Each key restarts the time.
        await asyncio.sleep(left_s)
        left_s = dialog.touched_s + limit_s - loop.time()
    dialog.submit_unfinished()
