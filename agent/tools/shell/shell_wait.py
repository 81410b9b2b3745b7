"""Waits for a command: for its end, a limit, or what the user wants of it."""

from __future__ import annotations

import asyncio

from agent.abort import AbortSignal
from agent.tools.shell.shell_process import ShellProcess


async def wait_for_shell(
    shell: ShellProcess, abort: AbortSignal, timeout_s: float, *, may_continue: bool
) -> str:
    """Return `ended`, `timeout`, `interrupted`, `background` or `continues` (after the timeout);
    an interrupted or timed-out shell is stopped."""
    end = asyncio.ensure_future(shell.wait())
    interruption = asyncio.ensure_future(abort.wait())
    move = asyncio.ensure_future(shell.to_background.wait())
    try:
        finished_tasks, _ = await asyncio.wait(
            {end, interruption, move}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        for waiter in (end, interruption, move):
            waiter.cancel()
    if end in finished_tasks:
        return "ended"
    if move in finished_tasks:
        return "background"
    if interruption not in finished_tasks and may_continue:
        return "continues"
    await stop_and_wait(shell)
    return "interrupted" if interruption in finished_tasks else "timeout"


async def stop_and_wait(shell: ShellProcess) -> None:
    """Stop the shell and wait until it has ended, even if cancelled again meanwhile."""
    stopping = asyncio.ensure_future(shell.stop())
    try:
        await asyncio.shield(stopping)
    except asyncio.CancelledError:
        await asyncio.wait({stopping})
        raise
