"""Implements the agent's ports with dialogs: permissions, questions, plans, sandbox, trust."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agent.abort import Aborted, AbortSignal
from agent.display import Display
from agent.model.local_servers import LocalServer, find_local_servers
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from agent.tools.services import AskUser, PlanAnswer, Question
from permissions.decision import Decision, DecisionWarning
from permissions.explain.explain_decision import Shorten
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from tui.dialogs.batch_answer import WaitingQuestion
from tui.dialogs.dialog import AnsweredDialog, AnswerT
from tui.dialogs.edited_call import EditText
from tui.dialogs.host import DialogHost
from tui.dialogs.idle_timeout import limit_of, wait_with_idle_limit
from tui.dialogs.onboarding import LocalModel, Onboarding, OnboardingDialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import GrantOffer, JudgeCall, PermissionAsk, with_new_warnings
from tui.dialogs.plan import PlanDialog
from tui.dialogs.question import QuestionDialog
from tui.dialogs.sandbox.network import NetworkDialog
from tui.dialogs.sandbox.refusal import refusal_dialog
from tui.dialogs.sandbox.work_inside import WorkInside
from tui.dialogs.trust_dialog import TrustDialog, TrustRequest
from tui.text.highlight import Highlighter

if TYPE_CHECKING:
    from agent.commands.service import CommandService


SuggestGrants = Callable[[PermissionRequest, Decision], Sequence[GrantOffer]]
FindPreview = Callable[[str], Display | None]

_EDIT_TOOLS = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


class DialogContender:
    """The permission dialog as a contender; always available."""

    name = "dialog"

    def __init__(
        self,
        host: DialogHost,
        highlighter: Highlighter,
        suggest: SuggestGrants,
        preview: FindPreview,
        edit_text: EditText | None = None,
        judge: JudgeCall = lambda _request: None,
        short: Shorten = str,
        inside: WorkInside | None = None,
    ) -> None:
        """`suggest` returns grants to offer, `preview` what a call would do by its id.

        `judge` decides an edited call; `short` abbreviates paths; `inside` is the sandbox offer.
        """
        self._inside = inside
        self._short = short
        self._host = host
        self._highlighter = highlighter
        self._suggest = suggest
        self._judge = judge
        self._preview = preview
        self._edit_text = edit_text
        self._waiting: list[WaitingQuestion] = []
        self._shown_warnings: set[DecisionWarning] = set()

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Ask the user. Cancelled, closing the dialog, when another contender decides first."""
        inside = self._inside
        while True:
            is_offered = inside is not None and inside.is_offered(request)
            answer = await self._answer(request, pending, offers_inside=is_offered)
            if answer is not None or inside is None:
                return answer
            # After a yes the gate decides the call again, and cancels this question.
            await inside.take(await show(self._host, inside.dialog()))

    async def _answer(
        self, request: PermissionRequest, pending: Decision, *, offers_inside: bool
    ) -> Decision | None:
        ask = self._ask(request, pending)
        dialog = PermissionDialog(
            ask,
            self._highlighter,
            self._edit_text,
            self._waiting_questions,
            self._judge_again,
            offers_inside=offers_inside,
        )
        waiting = WaitingQuestion(request, pending, dialog.give)
        self._waiting.append(waiting)
        try:
            answer = await show(self._host, dialog)
            return None if dialog.wants_inside else answer
        except asyncio.CancelledError:
            # Another contender decided, or the turn was interrupted: keep the typed text.
            self._host.give_back(dialog.typed_text)
            raise
        finally:
            self._waiting.remove(waiting)

    def _ask(self, request: PermissionRequest, pending: Decision) -> PermissionAsk:
        offers = tuple(self._suggest(request, pending))
        return PermissionAsk(
            request,
            with_new_warnings(pending, self._shown_warnings),
            self._preview(request.tool_use_id),
            offers,
            session_edits=request.tool in _EDIT_TOOLS and any(one.choice.rules for one in offers),
            short=self._short,
        )

    def _judge_again(self, request: PermissionRequest) -> PermissionAsk | None:
        decision = self._judge(request)
        return None if decision is None else self._ask(request, decision)

    def _waiting_questions(self) -> Sequence[WaitingQuestion]:
        """Return the questions that wait behind the visible one, in order."""
        return self._waiting[1:]


class DialogUser:
    """Asks the user: questions, plans, sandbox access, trust and the first start."""

    def __init__(
        self,
        host: DialogHost,
        highlighter: Highlighter,
        edit_text: EditText | None = None,
        commands: Callable[[], CommandService | None] = lambda: None,
    ) -> None:
        """`edit_text` is the user's editor; `commands` returns the source of the settings."""
        self._commands = commands
        self._host = host
        self._highlighter = highlighter
        self._edit_text = edit_text

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        """Return answers by question text, or None when the user declined."""
        try:
            dialog = QuestionDialog(questions, self._highlighter)
            answers = show(self._host, dialog)
            return await abort.race(
                wait_with_idle_limit(dialog, answers, limit_of(self._commands()))
            )
        except Aborted:
            return None

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        """Show a plan and return what the user decided."""
        try:
            dialog = PlanDialog(plan, self._highlighter, self._edit_text)
            return await abort.race(show(self._host, dialog))
        except Aborted:
            return PlanAnswer(False)

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        """Return whether commands in the sandbox may reach a host."""
        dialog = NetworkDialog(request)
        try:
            return await show(self._host, dialog)
        except asyncio.CancelledError:
            # The caller no longer waits for the answer: keep the typed text.
            self._host.give_back(dialog.typed_text)
            raise

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        """Return what to do after the sandbox refused a command an access."""
        return await show(self._host, refusal_dialog(request))

    async def trust(self, request: TrustRequest) -> bool:
        """Return whether the user trusts a directory."""
        return await show(self._host, TrustDialog(request))

    async def onboard(
        self, server: LocalServer | None = None, *, obstacle: str = ""
    ) -> Onboarding | LocalModel:
        """Return what to do without credentials, or which model of the named server to use."""
        servers = (server,) if server is not None else await find_local_servers()
        dialog = OnboardingDialog(
            self._highlighter, servers, is_configured=server is not None, obstacle=obstacle
        )
        return await show(self._host, dialog)


async def show(host: DialogHost, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
    """Show a dialog and return its answer; it is closed in any case."""
    host.open(dialog)
    try:
        return await dialog.wait()
    finally:
        host.close(dialog)
        # Let the screen show that the dialog is closed before the caller continues.
        await asyncio.sleep(0)


if TYPE_CHECKING:

    def _check_protocol(contender: DialogContender, user: DialogUser) -> tuple[Contender, AskUser]:
        return contender, user
