"""The one place where hook events are fired from: the same for the main agent and for sub-agents.

Turns moments of the loop into hook payloads, and what hooks have to show into events. An event that
no handler matches costs a dictionary look-up. Implements the hook ports of `agent.loop` and
`agent.tools.call`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agent.abort import AbortSignal
from agent.events import AgentEvent, HookFinished, HookStarted, Notice
from agent.messages import ToolUse
from agent.prompt.instruction_files import InstructionFile
from agent.tools.call import CallHooks, CallOutcome
from hooks.events import (
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    FileChanged,
    HookEventPayload,
    InstructionsLoaded,
    Notification,
    PermissionDenied,
    PostCompact,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    UserPromptExpansion,
    UserPromptSubmit,
)
from hooks.outcome import EventOutcome
from hooks.ports import HookSession
from hooks.runner import HookRunner
from hooks.spec import HandlerSpec

if TYPE_CHECKING:
    from agent.loop import TurnHooks

_MCP_NAME: Final = re.compile(r"^mcp__(.+?)__")

_STOP_FAILURES: Final = {
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "billing_error": "billing_error",
    "invalid_request_error": "invalid_request",
    "invalid_request": "invalid_request",
    "not_found_error": "model_not_found",
    "api_error": "server_error",
}
"""The endpoint's error kinds in the words that StopFailure hooks match on."""


class HookDispatch:
    """Fires the events of one agent."""

    def __init__(
        self,
        runner: HookRunner,
        session: HookSession,
        *,
        env_files: list[Path] | None = None,
        agent_id: str | None = None,
        agent_type: str | None = None,
    ) -> None:
        """Fire events of one agent.

        Args:
            runner: the engine.
            session: what the runner tells every hook.
            env_files: kept up to date with the shell files that hooks wrote.
            agent_id: None is the main agent.
            agent_type: of a sub-agent.
        """
        self._env_files = env_files if env_files is not None else []
        self._runner = runner
        self._session = session
        self._agent_id = agent_id
        self._agent_type = agent_type
        self._turn_id = ""
        self._events: list[AgentEvent] = []
        self._start_context: list[str] = []
        self.on_watch_paths: Callable[[Sequence[str]], None] = lambda _: None
        """Hears which files a hook wants watched from now on."""

    @property
    def runner(self) -> HookRunner:
        """The engine, for `/hooks` and for contenders."""
        return self._runner

    def for_subagent(self, agent_id: str, agent_type: str, turn_id: str) -> HookDispatch:
        """Return a dispatch for a sub-agent: same handlers, its own identity in the payloads."""
        child = HookDispatch(self._runner, self._session, agent_id=agent_id, agent_type=agent_type)
        child._turn_id = turn_id
        return child

    def turn_id(self) -> str:
        """Return the turn that events belong to now."""
        return self._turn_id

    def begin_turn(self, turn_id: str, prompt_id: str) -> None:
        """Name the turn that the next events belong to."""
        self._turn_id = turn_id
        self._session.prompt_id = prompt_id

    # -- what hooks have to show or add -----------------------------------------------------

    def notices(self) -> list[AgentEvent]:
        """Return events for the person since the last call; empties the list."""
        events, self._events = self._events, []
        return events

    def late_context(self) -> list[str]:
        """Return what background hooks brought for the model since the last call."""
        if self._agent_id is not None:
            return []
        late = self._runner.take_background()
        for text in late.system_messages:
            self._show(Notice(self._turn_id, "info", text, agent_id=self._agent_id))
        for text in late.notices:
            self._show(Notice(self._turn_id, "warning", text, agent_id=self._agent_id))
        return [*late.additional_context, *late.wake]

    def start_context(self) -> list[str]:
        """Return what SessionStart hooks add in front of the first prompt; empties the list."""
        texts, self._start_context = self._start_context, []
        return texts

    # -- session and turn -------------------------------------------------------------------

    async def session_start(self, source: str, model: str) -> EventOutcome | None:
        """Fire SessionStart; its context waits for the first prompt."""
        outcome = await self._fire(SessionStart(source=source, model=model))
        if outcome is not None and outcome.additional_context:
            self._start_context.append(outcome.additional_context)
        return outcome

    async def session_end(self, reason: str) -> None:
        """Fire SessionEnd; its answers count for nothing."""
        await self._fire(SessionEnd(reason=reason))

    async def user_prompt_submit(self, text: str, abort: AbortSignal) -> EventOutcome | None:
        """Fire UserPromptSubmit."""
        return await self._fire(UserPromptSubmit(prompt=text), abort)

    async def user_prompt_expansion(
        self, name: str, arguments: str, source: str, typed: str, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire UserPromptExpansion: a typed command is about to become its text."""
        payload = UserPromptExpansion(
            command_name=name, command_args=arguments, command_source=source, prompt=typed
        )
        return await self._fire(payload, abort)

    async def stop(
        self, last_text: str, *, active: bool, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire Stop, or SubagentStop in a sub-agent."""
        if self._agent_id is not None:
            payload: HookEventPayload = SubagentStop(
                agent_id=self._agent_id,
                agent_type=self._agent_type or "",
                last_assistant_message=last_text,
                stop_hook_active=active,
            )
        else:
            payload = Stop(last_assistant_message=last_text, stop_hook_active=active)
        return await self._fire(payload, abort)

    async def stop_failure(self, kind: str, detail: str) -> None:
        """Fire StopFailure: a turn ended by an error of the endpoint."""
        await self._fire(
            StopFailure(
                error=_STOP_FAILURES.get(kind, "unknown"),
                error_details=detail,
                last_assistant_message=detail,
            )
        )

    async def subagent_start(self) -> EventOutcome | None:
        """Fire SubagentStart; its context goes to the sub-agent."""
        return await self._fire(
            SubagentStart(agent_id=self._agent_id or "", agent_type=self._agent_type or "")
        )

    async def notification(self, kind: str, message: str) -> None:
        """Fire Notification: the person's attention is wanted."""
        await self._fire(Notification(message=message, notification_type=kind))

    async def pre_compact(self, trigger: str, instructions: str) -> EventOutcome | None:
        """Fire PreCompact; a block keeps the history as it is."""
        return await self._fire(PreCompact(trigger=trigger, custom_instructions=instructions))

    async def post_compact(self, trigger: str, summary: str) -> None:
        """Fire PostCompact."""
        await self._fire(PostCompact(trigger=trigger, compact_summary=summary))

    async def cwd_changed(self, old: str, new: str) -> None:
        """Fire CwdChanged, and name the new one to hooks from now on."""
        self._session.cwd = Path(new)
        await self._fire(CwdChanged(old_cwd=old, new_cwd=new))

    async def file_changed(self, payload: FileChanged) -> None:
        """Fire FileChanged."""
        await self._fire(payload)

    async def may_change_settings(self, source: str, path: Path) -> bool:
        """Fire ConfigChange; False when a hook refuses that the change counts."""
        outcome = await self._fire(ConfigChange(source=source, file_path=str(path)))
        return outcome is None or outcome.decision not in {"block", "deny"}

    async def directory_added(self, directory: str, source: str) -> None:
        """Fire DirectoryAdded."""
        await self._fire(DirectoryAdded(directory=directory, source=source))

    async def instructions_loaded(self, file: InstructionFile, trigger: str | None = None) -> None:
        """Fire InstructionsLoaded; `trigger` is the file in use that brought it in."""
        await self._fire(
            InstructionsLoaded(
                file_path=str(file.path),
                memory_type=file.memory_type,
                load_reason=file.reason,
                globs=list(file.globs) or None,
                trigger_file_path=trigger,
                parent_file_path=str(file.parent) if file.parent is not None else None,
            )
        )

    # -- one call ---------------------------------------------------------------------------

    async def pre_tool_use(
        self, call: ToolUse, tool_input: Mapping[str, Any], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PreToolUse."""
        if not self._runner.has("PreToolUse"):
            return None
        server = _MCP_NAME.match(call.name)
        return await self._fire(
            PreToolUse(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                mcp_server=server.group(1) if server else None,
                **self._who(),
            ),
            abort,
            call.id,
        )

    async def post_tool_use(
        self,
        call: ToolUse,
        tool_input: Mapping[str, Any],
        response: Any,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Fire PostToolUse."""
        if not self._runner.has("PostToolUse"):
            return None
        rewritten = dict(call.input) if dict(call.input) != dict(tool_input) else None
        return await self._fire(
            PostToolUse(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                tool_response=dict(response) if isinstance(response, Mapping) else response,
                original_tool_input=rewritten,
                duration_ms=duration_ms,
                **self._who(),
            ),
            abort,
            call.id,
        )

    async def post_tool_use_failure(
        self,
        call: ToolUse,
        tool_input: Mapping[str, Any],
        error: str,
        *,
        is_interrupt: bool,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Fire PostToolUseFailure."""
        if not self._runner.has("PostToolUseFailure"):
            return None
        return await self._fire(
            PostToolUseFailure(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                error=error,
                is_interrupt=is_interrupt or None,
                duration_ms=duration_ms,
                **self._who(),
            ),
            abort,
            call.id,
        )

    async def permission_denied(
        self, call: ToolUse, tool_input: Mapping[str, Any], reason: str
    ) -> EventOutcome | None:
        """Fire PermissionDenied."""
        if not self._runner.has("PermissionDenied"):
            return None
        return await self._fire(
            PermissionDenied(
                tool_name=call.name,
                tool_input=dict(tool_input),
                tool_use_id=call.id,
                reason=reason,
                **self._who(),
            ),
            None,
            call.id,
        )

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch."""
        if not self._runner.has("PostToolBatch"):
            return None
        calls: list[dict[str, object]] = [
            {
                "tool_name": use.name,
                "tool_input": dict(use.input),
                "tool_use_id": use.id,
                "tool_response": outcome.response,
            }
            for use, outcome in outcomes
        ]
        return await self._fire(PostToolBatch(tool_calls=calls, **self._who()), abort)

    # -- firing -----------------------------------------------------------------------------

    def _who(self) -> dict[str, Any]:
        return {"agent_id": self._agent_id, "agent_type": self._agent_type}

    async def _fire(
        self,
        payload: HookEventPayload,
        abort: AbortSignal | None = None,
        tool_use_id: str | None = None,
    ) -> EventOutcome | None:
        name = payload.event_name
        if not self._runner.has(name):
            return None

        def started(specs: Sequence[HandlerSpec]) -> None:
            words = next((spec.status_message for spec in specs if spec.status_message), None)
            self._show(
                HookStarted(self._turn_id, name, words, tool_use_id, agent_id=self._agent_id)
            )

        outcome = await self._runner.run(payload, abort=abort, on_start=started)
        if outcome.outcome == "skipped":
            return None
        self._finished(outcome, tool_use_id)
        if outcome.watch_paths is not None:
            self.on_watch_paths(outcome.watch_paths)
        return outcome

    def show_outcome(self, outcome: EventOutcome) -> None:
        """Show what an event came to that was fired elsewhere (the permission race)."""
        self._finished(outcome, None)

    def _finished(self, outcome: EventOutcome, tool_use_id: str | None) -> None:
        if outcome.env_file is not None:
            self._env_files[:] = self._runner.env_files.written()
        notices = (*outcome.notices, *outcome.config_warnings)
        self._show(
            HookFinished(
                self._turn_id,
                outcome.event,
                str(outcome.outcome),
                notices,
                tool_use_id=tool_use_id,
                agent_id=self._agent_id,
            )
        )
        for text in outcome.system_messages:
            self._show(Notice(self._turn_id, "info", text, agent_id=self._agent_id))

    def _show(self, event: AgentEvent) -> None:
        self._events.append(event)


if TYPE_CHECKING:

    def _proves(dispatch: HookDispatch) -> tuple[CallHooks, TurnHooks]:
        return dispatch, dispatch
