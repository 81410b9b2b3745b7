"""Stands in for the screen until its library is loaded: messages wait, questions request it.

The prompt of the command line is sent during that time, and making its conversation may need to
show messages or ask questions. Next: `tui.startup.first_turn`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from tui.ports.conversation import ScreenPorts

if TYPE_CHECKING:
    from pathlib import Path

    from agent.abort import AbortSignal
    from agent.events import AgentEvent
    from agent.model.local_servers import LocalServer
    from agent.sandbox.network.host_gate import HostAnswer, HostRequest
    from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
    from agent.tools.services import AskUser, PlanAnswer, Question
    from permissions.decision import Decision
    from permissions.request import PermissionRequest
    from permissions.resolve.contender import Contender
    from tui.conversation.factory import Front
    from tui.dialogs.dialog import AnsweredDialog, ShowDialog
    from tui.dialogs.onboarding import LocalModel, Onboarding
    from tui.dialogs.trust_dialog import TrustRequest

AnswerT = TypeVar("AnswerT")


class LateScreen:
    """Implements `tui.conversation.factory.Front`; `ports` waits for the screen, then asks on it.

    Requires a running event loop.
    """

    def __init__(self) -> None:
        """Start without messages."""
        self.is_needed = asyncio.Event()
        """Set when the user must be asked or shown something."""
        self._front_and_ports: asyncio.Future[tuple[Front, ScreenPorts]] = (
            asyncio.get_running_loop().create_future()
        )
        self._waiting: list[Callable[[Front], object]] = []
        self.ports = ScreenPorts(
            _LateContender(self), user := _LateUser(self), user.trust, user.onboard, user.show
        )

    def attach(self, front: Front, ports: ScreenPorts) -> None:
        """Pass everything to the screen from now on, beginning with waiting messages in order."""
        waiting, self._waiting = self._waiting, []
        for show in waiting:
            show(front)
        self._front_and_ports.set_result((front, ports))

    async def wait_for_ports(self) -> ScreenPorts:
        """Request the screen, and return its ports once it is attached."""
        return (await self._screen())[1]

    async def _screen(self) -> tuple[Front, ScreenPorts]:
        self.is_needed.set()
        return await asyncio.shield(self._front_and_ports)

    def _show(self, show: Callable[[Front], object]) -> None:
        if self._front_and_ports.done():
            show(self._front_and_ports.result()[0])
        else:
            self._waiting.append(show)

    def notice(self, text: str, level: str = "info") -> None:
        """Show a line."""
        self._show(lambda front: front.notice(text, level))

    def use_directory(self, directory: Path) -> None:
        """Use another working directory."""
        self._show(lambda front: front.use_directory(directory))

    def name_window(self, title: str) -> None:
        """Show a session's name as the window's title."""
        self._show(lambda front: front.name_window(title))

    def take_draft(self, text: str) -> bool:
        """Put text into the prompt."""
        self._show(lambda front: front.take_draft(text))
        return True

    def write_sequence(self, sequence: str) -> None:
        """Write a sequence to the terminal."""
        self._show(lambda front: front.write_sequence(sequence))

    async def show_past(self, path: Path) -> None:
        """Show the end of the resumed session."""
        await (await self._screen())[0].show_past(path)

    async def show_event(self, event: AgentEvent) -> None:
        """Show an event that belongs to no prompt; requests the screen, as a hook may be slow."""
        await (await self._screen())[0].show_event(event)


class _LateContender:
    name = "dialog"

    def __init__(self, screen: LateScreen) -> None:
        self._screen = screen

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        return await (await self._screen.wait_for_ports()).contender.decide(request, pending)


class _LateUser:
    def __init__(self, screen: LateScreen) -> None:
        self._screen = screen

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        return await (await self._screen.wait_for_ports()).user.ask(questions, abort)

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        return await (await self._screen.wait_for_ports()).user.approve_plan(plan, abort)

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        return await (await self._screen.wait_for_ports()).user.decide_host(request)

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        return await (await self._screen.wait_for_ports()).user.decide_refusal(request)

    async def trust(self, request: TrustRequest) -> bool:
        return await (await self._screen.wait_for_ports()).trust(request)

    async def onboard(
        self, server: LocalServer | None = None, *, obstacle: str = ""
    ) -> Onboarding | LocalModel:
        ports = await self._screen.wait_for_ports()
        return await ports.onboarding(server, obstacle=obstacle)

    async def show(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        return await (await self._screen.wait_for_ports()).show(dialog)


if TYPE_CHECKING:

    def _check_protocol(
        contender: _LateContender, user: _LateUser, screen: LateScreen
    ) -> tuple[Contender, AskUser, ShowDialog, Front]:
        return contender, user, user.show, screen
