"""Shows dialogs and panels as lines, which the user answers by typing a number.

Next: `tui.screen_reader.dialog_lines` (dialogs as lines), `tui.dialogs.ports` (dialogs on the
screen).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

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
from tui.dialogs.dialog import AnsweredDialog, AnswerT, Dialog
from tui.dialogs.idle_timeout import limit_of, wait_with_idle_limit
from tui.dialogs.onboarding import LocalModel, Onboarding, OnboardingDialog
from tui.dialogs.permission import PermissionDialog
from tui.dialogs.permission_ask import JudgeCall, PermissionAsk, with_new_warnings
from tui.dialogs.plan import PlanDialog
from tui.dialogs.question import QuestionDialog
from tui.dialogs.sandbox.network import NetworkDialog
from tui.dialogs.sandbox.refusal import refusal_dialog
from tui.dialogs.trust_dialog import TrustDialog, TrustRequest
from tui.screen_reader.dialog_lines import (
    ANSWER_HINT,
    NUMBERED,
    WIDTH_CELLS,
    LineEffect,
    answer,
    answer_hint,
    dialog_lines,
    is_read_only,
    question_lines,
)
from tui.screen_reader.line_input import LineReader
from tui.screen_reader.line_output import BELL, LineOutput
from tui.text.highlight import Highlighter

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from tui.dialogs.permission_ask import GrantOffer


ANSWER_PROMPT: Final = "answer: "
MAX_ESCAPES: Final = 9
"""Maximum number of Esc presses that close a dialog with its nested views."""
LATE_S: Final = 0.1
OTHERS_S: Final = 0.15


class LineDialogs:
    """Shows one dialog after the other."""

    def __init__(
        self, output: LineOutput, reader: LineReader, store_lines: Callable[[Sequence[str]], None]
    ) -> None:
        """`store_lines` receives lines typed before a question was shown: they do not answer it."""
        self._output = output
        self._reader = reader
        self._store_lines = store_lines
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, dialog: AnsweredDialog[AnswerT], label: str = "") -> AnswerT:
        """Write a dialog, apply typed lines until it is answered, and return the answer."""
        async with self._one_at_a_time:
            input_task = asyncio.ensure_future(self._answer(dialog, label))
            answer_task = asyncio.ensure_future(dialog.wait())
            try:
                ready_tasks, _ = await asyncio.wait(
                    {input_task, answer_task}, return_when=asyncio.FIRST_COMPLETED
                )
                if input_task in ready_tasks:
                    # Raises the error if the dialog could not be shown.
                    input_task.result()
                return await answer_task
            finally:
                for task in (input_task, answer_task):
                    task.cancel()
                await asyncio.wait({input_task, answer_task})
                if self._reader.is_reading:
                    # Another contender was faster: start a new line after the open prompt.
                    self._output.write([""])

    async def _answer(self, dialog: Dialog, label: str) -> None:
        if is_read_only(dialog):
            self._output.write(dialog_lines(dialog))
            dialog.press("escape", "", "confirm:no")
            return
        self._store_lines(self._reader.typed_ahead())
        self._output.mark(BELL)
        written_lines: list[str] = []
        written_question: list[str] = []
        body_id = ""
        was_applied = False
        changes_to = getattr(dialog, "changes_to", None)
        if callable(changes_to):
            loop = asyncio.get_running_loop()
            # Delayed until the prompt of the line that is being typed is written.
            changes_to(
                lambda: loop.call_later(LATE_S, self._write_added_choices, dialog, written_lines)
            )
        while not dialog.is_done:
            lines = dialog_lines(dialog)
            if lines != written_lines:
                # Do not repeat lines, unless another question is open now.
                now = dialog.view(WIDTH_CELLS).body_id
                question = question_lines(dialog)
                is_other = not written_lines or (now != body_id and question != written_question)
                fresh = lines if is_other else [line for line in lines if line not in written_lines]
                body_id, written_question = now, question
                how = answer_hint(dialog)
                self._output.write([label + fresh[0], *fresh[1:], how] if fresh else [how])
                written_lines[:], label = lines, ""
            elif was_applied:
                # The line changed nothing, as "more" at the end of a list: respond nevertheless.
                self._output.write([answer_hint(dialog)])
            was_begun_before = self._reader.is_reading
            line = await self._reader.line(ANSWER_PROMPT)
            if was_begun_before and line is not None:
                # Meant for an earlier question, which was answered elsewhere.
                self._output.write([f"That line was started before this question. {ANSWER_HINT}"])
                continue
            if line is None:
                # The first Esc may only end a search, a comment or a review.
                for _ in range(MAX_ESCAPES):
                    if not dialog.is_done:
                        dialog.press("escape", "", "confirm:no")
                return
            was_applied = answer(dialog, line) is LineEffect.APPLIED
            if not was_applied:
                self._output.write([f"That is not an answer here. {answer_hint(dialog)}"])

    def _write_added_choices(self, dialog: Dialog, written_lines: list[str]) -> None:
        """Write choices that were added after the question was written; ignore other changes."""
        lines = dialog_lines(dialog)
        late = [line for line in lines if line not in written_lines and NUMBERED.match(line)]
        if written_lines and late and not dialog.is_done:
            written_lines[:] = lines
            self._output.write(["", *late])
            self._reader.repeat_prompt(ANSWER_PROMPT)


class LineContender:
    """The permission dialog as a contender; always available."""

    name = "dialog"

    def __init__(
        self,
        dialogs: LineDialogs,
        suggest: Callable[[PermissionRequest, Decision], Sequence[GrantOffer]],
        preview: Callable[[str], Display | None],
        judge: JudgeCall = lambda _request: None,
        short: Shorten = str,
    ) -> None:
        """`suggest` returns grants to offer, `preview` what a call would do by its id.

        `judge` decides an edited call; `short` abbreviates paths.
        """
        self._short = short
        self._dialogs = dialogs
        self._suggest = suggest
        self._preview = preview
        self._judge = judge
        self._shown_warnings: set[DecisionWarning] = set()

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Ask the user. Cancelled when another contender decides first."""
        # Nothing is written if another contender decides at once.
        await asyncio.sleep(OTHERS_S)
        dialog = PermissionDialog(
            self._ask(request, pending), Highlighter(), judge=self._judge_again
        )
        return await self._dialogs.ask(dialog, "Permission required: ")

    def _ask(self, request: PermissionRequest, pending: Decision) -> PermissionAsk:
        offers = tuple(self._suggest(request, pending))
        preview = self._preview(request.tool_use_id)
        decision = with_new_warnings(pending, self._shown_warnings)
        return PermissionAsk(request, decision, preview, offers, short=self._short)

    def _judge_again(self, request: PermissionRequest) -> PermissionAsk | None:
        decision = self._judge(request)
        return None if decision is None else self._ask(request, decision)


class LineDialogUser:
    """Asks the user: questions, plans, sandbox access, trust and the first start."""

    def __init__(
        self, dialogs: LineDialogs, commands: Callable[[], CommandService | None] = lambda: None
    ) -> None:
        """`commands` returns the command service, which has the user's settings."""
        self._dialogs = dialogs
        self._commands = commands

    async def ask(
        self, questions: Sequence[Question], abort: AbortSignal
    ) -> Mapping[str, str] | None:
        """Return answers by question text, or None when the user declined."""
        try:
            dialog = QuestionDialog(questions, Highlighter())
            answer = self._dialogs.ask(dialog)
            return await abort.race(
                wait_with_idle_limit(dialog, answer, limit_of(self._commands()))
            )
        except Aborted:
            return None

    async def approve_plan(self, plan: str, abort: AbortSignal) -> PlanAnswer:
        """Write a plan and return what the user decided."""
        try:
            return await abort.race(self._dialogs.ask(PlanDialog(plan, Highlighter())))
        except Aborted:
            return PlanAnswer(False)

    async def decide_host(self, request: HostRequest) -> HostAnswer:
        """Return whether commands in the sandbox may reach a host."""
        return await self._dialogs.ask(NetworkDialog(request))

    async def decide_refusal(self, request: RefusalRequest) -> RefusalAnswer:
        """Return what to do after the sandbox refused a command an access."""
        return await self._dialogs.ask(refusal_dialog(request))

    async def trust(self, request: TrustRequest) -> bool:
        """Return whether the user trusts a folder."""
        return await self._dialogs.ask(TrustDialog(request))

    async def onboard(
        self, server: LocalServer | None = None, *, obstacle: str = ""
    ) -> Onboarding | LocalModel:
        """Return what to do without credentials, or which model of the named server to use."""
        servers = (server,) if server is not None else await find_local_servers()
        return await self._dialogs.ask(
            OnboardingDialog(
                Highlighter(),
                servers,
                is_configured=server is not None,
                obstacle=obstacle,
                shows_keys=False,
            )
        )


if TYPE_CHECKING:

    def _check_protocol(
        contender: LineContender, user: LineDialogUser
    ) -> tuple[Contender, AskUser]:
        return contender, user
