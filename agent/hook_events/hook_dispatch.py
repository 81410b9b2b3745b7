"""Fires all hook events, for the main agent and for sub-agents alike.

Builds the payloads from moments of the conversation. Implements the hook port of `agent.loop.loop`.
Next: `agent.hook_events.tool_events` (events of tool calls), `agent.hook_events.fire`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.abort import AbortSignal
from agent.errors import AgentError
from agent.hook_events.fire import HookFiring
from agent.hook_events.tool_events import ToolEvents
from agent.messages import ToolUse
from agent.prompt.instruction_files import InstructionFile
from agent.tools.call import CallOutcome
from hooks.answers.outcome import EventOutcome
from hooks.events import (
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    FileChanged,
    HookEventPayload,
    InstructionsLoaded,
    MessageDisplay,
    Notification,
    PostCompact,
    PostModelSwitch,
    PreCompact,
    PreModelSwitch,
    PreSkillShellCommand,
    SessionEnd,
    SessionStart,
    Setup,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    UserPromptExpansion,
    UserPromptSubmit,
    WorktreeCreate,
    WorktreeRemove,
)
from hooks.runner import HookRunner

if TYPE_CHECKING:
    from agent.loop.loop_ports import TurnHooks

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
"""Error types of the endpoint, and the values that StopFailure hooks match on."""


class HookDispatch:
    """Fires the events of one agent's session and turns; `tools` fires those of its calls."""

    def __init__(self, firing: HookFiring, transcript: Path | None = None) -> None:
        """Fire through `firing`; `transcript` is a sub-agent's own."""
        self.firing = firing
        self.notices = firing.notices
        """Returns the events for the user since the last call, and clears them."""
        self.tools = ToolEvents(firing)
        self._transcript = transcript
        self._model = ""
        self._start_context: tuple[str, ...] = ()
        self._new_start_context: tuple[str, ...] = ()
        self._first_message: str | None = None

    @property
    def runner(self) -> HookRunner:
        """The engine, for `/hooks` and for contenders."""
        return self.firing.runner

    def for_subagent(
        self,
        agent_id: str,
        agent_type: str,
        turn_id: str,
        *,
        cwd: Callable[[], Path] | None = None,
        transcript: Path | None = None,
    ) -> HookDispatch:
        """Return a dispatch for a sub-agent: same handlers, its own identity in the payloads."""
        firing = self.firing.for_subagent(agent_id, agent_type, turn_id, cwd=cwd)
        return HookDispatch(firing, transcript)

    def late_context(self) -> list[str]:
        """Return the context that background hooks added for the model since the last call."""
        return self.firing.late_context()

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch."""
        return await self.tools.post_tool_batch(outcomes, abort)

    def start_context(self, *, is_repeated: bool = False) -> list[str]:
        """Return what Setup and SessionStart hooks add in front of the first prompt.

        Each text is returned once, and again with `is_repeated`, after a rewind to before that
        prompt.
        """
        texts, self._new_start_context = (
            (self._start_context if is_repeated else self._new_start_context),
            (),
        )
        return list(texts)

    def take_first_message(self) -> str | None:
        """Return the prompt that a SessionStart hook submits on the user's behalf, once."""
        text, self._first_message = self._first_message, None
        return text

    # -- session and turn -------------------------------------------------------------------

    async def setup(self, trigger: str) -> None:
        """Fire Setup, requested on the command line; its context is kept for the first prompt."""
        outcome = await self.firing.fire(Setup(trigger=trigger))
        if outcome is not None and outcome.additional_context:
            self._add_start_context(outcome.additional_context)

    async def session_start(
        self,
        source: str,
        model: str,
        *,
        title: str | None = None,
        context_tokens: int | None = None,
    ) -> EventOutcome | None:
        """Fire SessionStart; its context is kept for the first prompt.

        Args:
            source: why the session starts, as the hook contract names it.
            model: the one in use.
            title: the name of a resumed session.
            context_tokens: the size of a resumed session's context.
        """
        self._model = model
        outcome = await self.firing.fire(
            SessionStart(
                source=source,
                model=model,
                session_title=title,
                context_tokens=context_tokens,
            )
        )
        if outcome is not None:
            if outcome.additional_context:
                self._add_start_context(outcome.additional_context)
            self._first_message = outcome.initial_user_message
        return outcome

    def _add_start_context(self, text: str) -> None:
        self._start_context = (*self._start_context, text)
        self._new_start_context = (*self._new_start_context, text)

    async def session_end(self, reason: str, abort: AbortSignal | None = None) -> None:
        """Fire SessionEnd; its outcome is ignored."""
        await self.firing.fire(SessionEnd(reason=reason), abort)

    async def user_prompt_submit(self, text: str, abort: AbortSignal) -> EventOutcome | None:
        """Fire UserPromptSubmit."""
        return await self.firing.fire(UserPromptSubmit(prompt=text), abort)

    async def user_prompt_expansion(
        self, name: str, arguments: str, source: str, prompt_text: str, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire UserPromptExpansion: a typed command is about to be expanded."""
        payload = UserPromptExpansion(
            command_name=name, command_args=arguments, command_source=source, prompt=prompt_text
        )
        return await self.firing.fire(payload, abort)

    async def pre_skill_shell_command(
        self, call: ToolUse, name: str, source: str, *, by_user: bool, abort: AbortSignal
    ) -> str | None:
        """Fire PreSkillShellCommand; return why a skill's command must not run, or None."""
        if not self.runner.has("PreSkillShellCommand"):
            return None
        payload = PreSkillShellCommand(
            tool_name=call.name,
            tool_input=dict(call.input),
            tool_use_id=call.id,
            command_name=name,
            command_source=source,
            invoked_by="user" if by_user else "claude",
        )
        outcome = await self.firing.fire(payload, abort, call.id)
        if outcome is None:
            return None
        # `ask` and a changed input also refuse: nothing here can ask, or run a changed command.
        refuses = outcome.decision in {"deny", "block", "ask", "defer"}
        if not refuses and outcome.updated_input is None:
            return None
        return outcome.reason or f"{outcome.decided_by or 'a hook'} does not let it run as it is"

    async def stop(
        self, last_text: str, *, active: bool, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire Stop, or SubagentStop in a sub-agent."""
        if self.firing.agent_id is not None:
            payload: HookEventPayload = SubagentStop(
                agent_id=self.firing.agent_id,
                agent_type=self.firing.agent_type or "",
                agent_transcript_path=str(self._transcript or self.firing.session.transcript_path),
                last_assistant_message=last_text,
                stop_hook_active=active,
                background_tasks=self.firing.listeners.background_tasks(),
                session_crons=[],
            )
        else:
            payload = Stop(
                last_assistant_message=last_text,
                stop_hook_active=active,
                background_tasks=self.firing.listeners.background_tasks(),
                session_crons=[],
            )
        return await self.firing.fire(payload, abort)

    async def stop_failure(self, kind: str, detail: str) -> None:
        """Fire StopFailure: a turn ended by an error of the endpoint."""
        await self.firing.fire(
            StopFailure(
                error=_STOP_FAILURES.get(kind, "unknown"),
                error_details=detail,
                last_assistant_message=detail,
            )
        )

    async def subagent_start(self) -> EventOutcome | None:
        """Fire SubagentStart; its context goes to the sub-agent."""
        return await self.firing.fire(
            SubagentStart(
                agent_id=self.firing.agent_id or "", agent_type=self.firing.agent_type or ""
            )
        )

    async def notification(self, kind: str, message: str) -> None:
        """Fire Notification: the user's attention is needed."""
        await self.firing.fire(Notification(message=message, notification_type=kind))

    async def message_display(
        self, message_id: str, index: int, delta: str, *, final: bool, abort: AbortSignal
    ) -> str | None:
        """Fire MessageDisplay; return the text to show instead, or None for no change."""
        payload = MessageDisplay(
            turn_id=self.firing.turn_id(),
            message_id=message_id,
            index=index,
            final=final,
            delta=delta,
        )
        outcome = await self.firing.fire(payload, abort)
        return None if outcome is None else outcome.display_content

    async def pre_compact(self, trigger: str, instructions: str) -> EventOutcome | None:
        """Fire PreCompact; a block leaves the history unchanged."""
        return await self.firing.fire(PreCompact(trigger=trigger, custom_instructions=instructions))

    async def post_compact(self, trigger: str, summary: str) -> None:
        """Fire PostCompact, then SessionStart, whose context follows the summary.

        A sub-agent has no session of its own to start.
        """
        await self.firing.fire(PostCompact(trigger=trigger, compact_summary=summary))
        if self.firing.agent_id is not None:
            return
        self.firing.add_late_context(
            await self.firing.fire(SessionStart(source="compact", model=self._model))
        )

    async def may_switch_model(self, old: str, new: str, requested_name: str) -> str | None:
        """Fire PreModelSwitch; return why a hook refuses, or None."""
        outcome = await self.firing.fire(
            PreModelSwitch(
                from_model=old, to_model=new, requested_model=requested_name, source="command"
            )
        )
        if outcome is None or outcome.proceeds is not False:
            # A hook's `ask` does not refuse: the user who would be asked requested the switch.
            return None
        return outcome.stop_reason or outcome.reason or "a hook refused"

    async def model_switched(self, old: str, new: str, requested_name: str) -> None:
        """Fire PostModelSwitch; the hooks' context is sent with the next request."""
        self._model = new
        self.firing.add_late_context(
            await self.firing.fire(
                PostModelSwitch(
                    from_model=old, to_model=new, requested_model=requested_name, source="command"
                )
            )
        )

    async def cwd_changed(self, old: str, new: str) -> None:
        """Fire CwdChanged."""
        self.firing.session.cwd = Path(new)
        await self.firing.fire(CwdChanged(old_cwd=old, new_cwd=new))

    async def file_changed(self, payload: FileChanged) -> None:
        """Fire FileChanged."""
        await self.firing.fire(payload)

    async def may_change_settings(self, source: str, path: Path) -> bool:
        """Fire ConfigChange; return False if a hook refuses the change."""
        outcome = await self.firing.fire(ConfigChange(source=source, file_path=str(path)))
        return outcome is None or outcome.decision not in {"block", "deny"}

    async def worktree_create(self, name: str) -> str | None:
        """Fire WorktreeCreate; return the path of the worktree that a hook made, or None if git
        must make it. Raises AgentError if a hook refuses or fails.
        """
        outcome = await self.firing.fire(WorktreeCreate(name=name))
        if outcome is None:
            return None
        if outcome.worktree_path is None or outcome.decision in {"block", "deny"}:
            raise AgentError(outcome.reason or "a WorktreeCreate hook made no worktree")
        return outcome.worktree_path

    async def worktree_remove(self, path: str) -> None:
        """Fire WorktreeRemove."""
        await self.firing.fire(WorktreeRemove(worktree_path=path))

    async def directory_added(self, directory: str, source: str) -> None:
        """Fire DirectoryAdded in the background; the hooks' context is sent with a later
        request."""
        if self.runner.has("DirectoryAdded"):
            self.firing.fire_later(lambda: self._directory_added(directory, source))

    async def _directory_added(self, directory: str, source: str) -> None:
        self.firing.add_late_context(
            await self.firing.fire(DirectoryAdded(directory=directory, source=source))
        )

    async def instructions_loaded(self, file: InstructionFile, trigger: str | None = None) -> None:
        """Fire InstructionsLoaded in the background; `trigger` is the path whose use loaded the
        file."""
        if self.runner.has("InstructionsLoaded"):
            self.firing.fire_later(lambda: self._instructions_loaded(file, trigger))

    async def _instructions_loaded(self, file: InstructionFile, trigger: str | None) -> None:
        await self.firing.fire(
            InstructionsLoaded(
                file_path=str(file.path),
                memory_type=file.memory_type,
                load_reason=file.reason,
                globs=list(file.globs) or None,
                trigger_file_path=trigger,
                parent_file_path=str(file.parent) if file.parent is not None else None,
            )
        )


if TYPE_CHECKING:

    def _check_protocol(dispatch: HookDispatch) -> TurnHooks:
        return dispatch
