"""Control lines: requests to and from the calling program of a stream-json run.

Supported are the requests of client libraries for such streams: `initialize`, `interrupt` and
those of `agent.headless.control_requests`. In turn, the calling program is asked for the output of
its hooks (`hook_callback`) and, with `--permission-prompt-tool stdio`, whether a call may run
(`can_use_tool`), where it acts for the user. Next: `agent.headless.introduction` (`initialize`),
`agent.headless.input_lines` (which reads the lines).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.errors import AgentError
from agent.headless.control_requests import fulfill, welcome
from agent.headless.introduction import Introduction, IntroductionError, read_introduction
from agent.tools.services import PlanAnswer, ProgramAnswers
from hooks.answers.permission_updates import grant_of, suggestions_json
from hooks.config.spec import HookSource
from permissions.base.text.failure_text import StatedFailure
from permissions.base.text.sanitize import sanitize
from permissions.decision import Behavior, Decision, GrantChoice
from permissions.grants.suggest import Grant, suggest
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.contender_authority import DIALOG
from permissions.resolve.handlers import user_decision

if TYPE_CHECKING:
    from agent.abort import AbortSignal
    from agent.conversation.conversation import Conversation
    from agent.user_prompt import Prompt
    from permissions.resolve.contender import Contender

Suggest = Callable[[PermissionRequest, Decision], Sequence[Grant]]
"""Returns the grants that the dialog would offer for an ask."""
BESIDE: Final = frozenset({"generate_session_title"})
DECLINED: Final = "The calling program does not allow this."


class NoAnswer(AgentError, StatedFailure):
    """The calling program did not answer for the user; the text states why."""


class Control:
    """Both directions of control lines over one run's standard streams."""

    name = DIALOG

    def __init__(self, write: Callable[[Mapping[str, object]], None]) -> None:
        """`write` writes one JSON object as a line."""
        self._write = write
        self._waiting: dict[str, asyncio.Future[Mapping[str, object] | None]] = {}
        self._is_closed = False
        self.is_introduced = False
        """Whether the calling program sent `initialize`: it reads results, not the exit status."""
        self.is_interrupted = False
        """Whether a request interrupted the running prompt; reset by the code that runs it."""
        self.waiting_prompts: dict[str, Prompt] = {}
        """Prompts that wait for the running one, by their sender's ids; a prompt that is removed
        here never runs."""
        self._slow_answers: set[asyncio.Future[None]] = set()
        """Tasks of requests that wait for a model, so that they do not delay an interrupt."""
        self._first_model = ""
        self._suggest: Suggest = lambda _request, _pending: ()

    def connect(self, conversation: Conversation) -> None:
        """Serve this conversation; called once, before the first request is served."""
        self._first_model = conversation.status.model

        def suggest_grants(request: PermissionRequest, pending: Decision) -> Sequence[Grant]:
            gate, cwd = conversation.gate, conversation.view.cwd
            return suggest(gate.current_evaluation(request, cwd=cwd), pending)

        self._suggest = suggest_grants

    # -- requests of the other side ------------------------------------------------------------

    def read(self, line: Mapping[str, object]) -> Introduction | None:
        """Return the content of an `initialize` line; None for any other line.

        Raises:
            IntroductionError: it cannot be honored; an error response was sent.
        """
        request = line.get("request")
        if line.get("type") != "control_request" or not isinstance(request, Mapping):
            return None
        if request.get("subtype") != "initialize":
            return None
        try:
            return read_introduction(request, self._fire_callback)
        except IntroductionError as error:
            self._refuse(line, error)
            raise

    def welcome(
        self, conversation: Conversation, line: Mapping[str, object], introduction: Introduction
    ) -> None:
        """Register the hooks of the calling program, then answer its `initialize` line.

        Raises:
            IntroductionError: the hooks would not run; an error response was sent.
        """
        runner = conversation.hooks.runner
        if introduction.hooks and HookSource.CODE in runner.config.closed_to:
            error = IntroductionError(f"hooks: {runner.config.switched_off}")
            self._refuse(line, error)
            raise error
        runner.register(introduction.hooks)
        self.is_introduced = True
        self._answer(line, welcome(conversation))

    async def serve(self, conversation: Conversation, line: Mapping[str, object]) -> None:
        """Handle a `control_request` line and send the response.

        Raises:
            IntroductionError: an `initialize` line cannot be honored; the run must end.
        """
        try:
            introduction = self.read(line)
            if introduction is not None:
                self._accept_late_introduction(conversation, line, introduction)
                return
        except IntroductionError:
            conversation.controls.interrupt()
            raise
        request = line.get("request")
        if not isinstance(request, Mapping):
            self._refuse(line, 'expected {"request": {"subtype": …}}')
            return
        answering = self._answer_request(conversation, line, request)
        if request.get("subtype") not in BESIDE:
            await answering
            return
        task = asyncio.ensure_future(answering)
        self._slow_answers.add(task)
        task.add_done_callback(self._slow_answers.discard)

    async def _answer_request(
        self,
        conversation: Conversation,
        line: Mapping[str, object],
        request: Mapping[str, object],
    ) -> None:
        try:
            self._answer(line, await self._handle_control(conversation, request))
        except AgentError as error:
            self._refuse(line, error)
        except Exception as error:  # noqa: BLE001 - isolation boundary: the requester gets an answer
            self._refuse(line, f"{type(error).__name__}: {error}")

    def _accept_late_introduction(
        self, conversation: Conversation, line: Mapping[str, object], introduction: Introduction
    ) -> None:
        """Honor an `initialize` line that is not the first line of the run."""
        reason = "already done" if self.is_introduced else ""
        if introduction.needs_a_start:
            reason = (
                "system prompt, title, skills, agents and servers belong in the first line of a run"
            )
        if reason:
            error = IntroductionError(f"initialize: {reason}")
            self._refuse(line, error)
            raise error
        self.welcome(conversation, line, introduction)

    async def _handle_control(
        self, conversation: Conversation, request: Mapping[str, object]
    ) -> dict[str, object]:
        match request.get("subtype"):
            case "interrupt":
                self.is_interrupted = conversation.controls.interrupt()
                return {"still_queued": list(self.waiting_prompts)}
            case "cancel_async_message":
                prompt = self.waiting_prompts.pop(str(request.get("message_uuid")), None)
                return {"cancelled": prompt is not None}
            case _:
                return await fulfill(conversation, request, first_model=self._first_model)

    def _answer(self, line: Mapping[str, object], response: Mapping[str, object]) -> None:
        self._respond(line, {"subtype": "success", "response": response})

    def _refuse(self, line: Mapping[str, object], error: AgentError | str) -> None:
        self._respond(line, {"subtype": "error", "error": str(error)})

    def _respond(self, line: Mapping[str, object], answer: Mapping[str, object]) -> None:
        response = {"request_id": line.get("request_id"), **answer}
        self._write({"type": "control_response", "response": response})

    # -- requests to the other side ------------------------------------------------------------

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Ask the calling program in place of a dialog; return None if it has exited.

        Raises:
            NoAnswer: its response is not a valid answer.
        """
        body: dict[str, object] = {
            "subtype": "can_use_tool",
            "tool_name": request.tool,
            "input": dict(request.tool_input),
            "tool_use_id": request.tool_use_id,
            "agent_id": request.agent_id,
            "decision_reason": pending.message,
            "permission_suggestions": suggestions_json(self._suggest(request, pending)),
        }
        response = await self._send_request(body)
        if response is None:
            return None
        failure_text = "the calling program's permission callback failed"
        return decision_of(_value_of_response(response, failure_text), request)

    async def decide_plan(self, plan: str, tool_use_id: str, abort: AbortSignal) -> PlanAnswer:
        """Ask the calling program about a plan; it may name the mode to continue in.

        Raises:
            Aborted: the signal fired first.
        """
        body = {
            "subtype": "can_use_tool",
            "tool_name": "ExitPlanMode",
            "input": {"plan": plan},
            "tool_use_id": tool_use_id,
        }
        try:
            response = await abort.race(self._send_request(body))
            answer = _value_of_response(response) if response is not None else None
        except NoAnswer as error:
            return PlanAnswer(is_approved=False, feedback=str(error))
        if not isinstance(answer, Mapping) or answer.get("behavior") != "allow":
            feedback = answer.get("message") if isinstance(answer, Mapping) else None
            stops = isinstance(answer, Mapping) and answer.get("interrupt") is True
            return PlanAnswer(False, feedback=str(feedback or DECLINED), ends_turn=stops)
        return PlanAnswer(is_approved=True, mode=_chosen_mode(answer.get("updatedPermissions")))

    async def answer_questions(
        self, questions: Sequence[Mapping[str, object]], tool_use_id: str, abort: AbortSignal
    ) -> ProgramAnswers:
        """Ask the calling program questions of the model; it answers in `updatedInput`.

        Raises:
            Aborted: the signal fired first.
        """
        body = {
            "subtype": "can_use_tool",
            "tool_name": "AskUserQuestion",
            "input": {"questions": list(questions)},
            "tool_use_id": tool_use_id,
        }
        try:
            response = await abort.race(self._send_request(body))
            answer = _value_of_response(response) if response is not None else None
        except NoAnswer as error:
            return ProgramAnswers({}, refusal=str(error))
        if not isinstance(answer, Mapping) or answer.get("behavior") != "allow":
            message = answer.get("message") if isinstance(answer, Mapping) else None
            stops = isinstance(answer, Mapping) and answer.get("interrupt") is True
            return ProgramAnswers({}, refusal=str(message or DECLINED), ends_turn=stops)
        return ProgramAnswers(_answers_of(answer.get("updatedInput")))

    async def server_message(
        self, server: str, message: Mapping[str, object]
    ) -> Mapping[str, object] | None:
        """Return the response of an MCP server in the calling program; None if it has exited.

        Raises:
            NoAnswer: its response is not a valid answer.
        """
        body = {"subtype": "mcp_message", "server_name": server, "message": dict(message)}
        response = await self._send_request(body)
        if response is None:
            return None
        answer = _value_of_response(response)
        server_answer = answer.get("mcp_response") if isinstance(answer, Mapping) else None
        if not isinstance(server_answer, Mapping):
            raise NoAnswer("the calling program did not answer the server's message")
        return server_answer

    async def _fire_callback(
        self, callback_id: str, payload: Mapping[str, object]
    ) -> Mapping[str, object] | None:
        """Return the output of a hook of the calling program.

        Raises:
            NoAnswer: it sent no response, or an invalid one.
        """
        response = await self._send_request(
            {
                "subtype": "hook_callback",
                "callback_id": callback_id,
                "input": dict(payload),
                "tool_use_id": payload.get("tool_use_id"),
            }
        )
        if response is None:
            raise NoAnswer("the calling program has ended")
        answer = _value_of_response(response)
        if not isinstance(answer, Mapping | None):
            raise NoAnswer("the calling program did not answer with an object")
        return answer

    async def _send_request(self, request: Mapping[str, object]) -> Mapping[str, object] | None:
        """Send a request and return its response; None if the calling program has exited."""
        if self._is_closed:
            return None
        request_id = str(uuid.uuid4())
        future: asyncio.Future[Mapping[str, object] | None]
        future = self._waiting[request_id] = asyncio.get_running_loop().create_future()
        self._write({"type": "control_request", "request_id": request_id, "request": request})
        try:
            return await future
        except asyncio.CancelledError:
            self._write({"type": "control_cancel_request", "request_id": request_id})
            raise
        finally:
            del self._waiting[request_id]

    def accept_response(self, line: Mapping[str, object]) -> None:
        """Pass a `control_response` line to the request that waits for it, if any."""
        response = line.get("response")
        if isinstance(response, Mapping):
            future = self._waiting.get(str(response.get("request_id")))
            if future is not None and not future.done():
                future.set_result(response)

    def close(self) -> None:
        """End all waiting requests without a response, after the other side has closed its end."""
        self._is_closed = True
        for future in self._waiting.values():
            if not future.done():
                future.set_result(None)


def _value_of_response(
    response: Mapping[str, object], failure_text: str = "the calling program answered with an error"
) -> object:
    if response.get("subtype") != "success":
        text = sanitize(str(response.get("error") or "")).strip()
        raise NoAnswer(f"{failure_text}: {text or 'it has no text'}")
    return response.get("response")


def _answers_of(updated_input: object) -> Mapping[str, str]:
    """Return the answers by question; several to one question are joined."""
    answers = updated_input.get("answers") if isinstance(updated_input, Mapping) else None
    if not isinstance(answers, Mapping):
        return {}
    return {
        str(question): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for question, value in answers.items()
        if value
    }


def decision_of(answer: object, request: PermissionRequest) -> Decision:
    """Return the decision in a program's answer: `behavior` and the fields that belong to it.

    Raises:
        NoAnswer: it is not a valid answer.
    """
    behavior = answer.get("behavior") if isinstance(answer, Mapping) else None
    if not isinstance(answer, Mapping) or behavior not in ("allow", "deny"):
        raise NoAnswer('the calling program answered neither "allow" nor "deny"')
    if behavior == "deny":
        feedback = str(answer.get("message") or "").strip()
        return user_decision(
            Behavior.DENY,
            feedback=feedback or DECLINED,
            interrupt=answer.get("interrupt") is True,
            message="Declined by the calling program.",
        )
    allow = replace(
        user_decision(Behavior.ALLOW, message="Allowed by the calling program."),
        grant=_grant(answer.get("updatedPermissions")),
    )
    new_input = answer.get("updatedInput")
    if new_input is None or new_input == dict(request.tool_input):
        return allow
    if not isinstance(new_input, Mapping):
        raise NoAnswer("updatedInput: expected an object")
    return replace(allow, updated_input=dict(new_input))


def _grant(updates: object) -> GrantChoice | None:
    """Return the grant to store. Modes and directories that would widen access are skipped.

    Raises:
        NoAnswer: a restriction cannot be applied; ignoring it would allow too much.
    """
    if updates is None:
        return None
    if not isinstance(updates, list) or not all(isinstance(each, Mapping) for each in updates):
        raise NoAnswer("updatedPermissions: expected a list of objects")
    grant, problems = grant_of(updates)
    if problems and any(_restricts(update) for update in updates):
        raise NoAnswer(f"the calling program: {problems[0]}")
    return grant


def _chosen_mode(updates: object) -> str:
    """Return the mode for an approved plan; the default mode if none is named."""
    for update in updates if isinstance(updates, list) else ():
        if isinstance(update, Mapping) and update.get("mode") == Mode.ACCEPT_EDITS:
            return Mode.ACCEPT_EDITS
    return Mode.DEFAULT


def _restricts(update: Mapping[str, object]) -> bool:
    return update.get("behavior") in ("deny", "ask") or update.get("mode") in ("plan", "dontAsk")


if TYPE_CHECKING:

    def _check_protocol(control: Control) -> Contender:
        return control
