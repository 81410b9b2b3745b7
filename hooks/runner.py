"""Entry point of the package: fire an event, get back the merged outcome of its hooks.

Next to read: `hooks/events/capabilities.py` for what each event honors, `hooks/answers/outcome.py`
for the merge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from hooks.answers.outcome import EventOutcome, OutcomeKind, aggregate
from hooks.answers.outcome_limits import StopCap, limit_outcome
from hooks.answers.overflow import Overflow
from hooks.answers.response import HandlerOutcome, HandlerResult, block_on_failure
from hooks.config.config import HookConfig
from hooks.config.select import Selection, select
from hooks.config.spec import OF_OTHERS, CommandHandler, HandlerSpec, is_background
from hooks.events.capabilities import EFFECTS, default_timeout_s
from hooks.execution.background_handlers import BackgroundDelivery, BackgroundHandlers
from hooks.execution.env_files import EnvFiles
from hooks.execution.environment import hook_environment, working_directory
from hooks.execution.handlers.agent import AgentHandlerMode
from hooks.execution.handlers.callback import CallbackHandlerMode
from hooks.execution.handlers.command import CommandHandlerMode
from hooks.execution.handlers.hook_call import HandlerMode, HookCall
from hooks.execution.handlers.http import HttpHandlerMode
from hooks.execution.handlers.mcp_tool import McpToolHandlerMode
from hooks.execution.handlers.prompt import PromptHandlerMode
from hooks.missing_programs import MissingPrograms
from hooks.ports import HookPorts, HookSession, Payload
from permissions.base.text.failure_text import failure_text
from permissions.base.text.strict_json import dump_json
from permissions.resolve.race import Abort

MODES: Final[Mapping[str, HandlerMode]] = {
    "command": CommandHandlerMode(),
    "http": HttpHandlerMode(),
    "mcp_tool": McpToolHandlerMode(),
    "prompt": PromptHandlerMode(),
    "agent": AgentHandlerMode(),
    "callback": CallbackHandlerMode(),
}
SESSION_END_VARIABLE: Final = "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS"
SESSION_END_MAX_S: Final = 60.0


class HandlerStats(Struct, frozen=True):
    """Statistics of a handler in this session."""

    fire_count: int = 0
    last_outcome: str | None = None
    last_duration_ms: float | None = None
    last_error: str | None = None


class HookRunner:
    """Runs the hooks of one session, its sub-agents' included. Close it with `aclose`."""

    def __init__(self, config: HookConfig, *, session: HookSession, ports: HookPorts) -> None:
        """The owner of `session` updates it; it is read whenever an event fires."""
        self._config = config
        self._session = session
        self._ports = ports
        self._finished_once: set[tuple[object, ...]] = set()
        self._stats: dict[tuple[object, ...], HandlerStats] = {}
        self._reported_fields: set[tuple[tuple[object, ...], str]] = set()
        self._stops = StopCap(ports.env)
        self._overflow = Overflow(session.state_dir / "hook-output")
        self._env_files = EnvFiles(session.state_dir / "hook-env")
        self.background = BackgroundHandlers(lambda result: self._overflow.cap(result)[0])
        self.missing = MissingPrograms()
        self.on_config: list[Callable[[], None]] = []
        """Called after every change of the configuration in force."""

    @property
    def config(self) -> HookConfig:
        """The configuration in force."""
        return self._config

    @property
    def env_files(self) -> EnvFiles:
        """The shell files that hooks wrote for later commands."""
        return self._env_files

    def has(self, event: str) -> bool:
        """Whether any handler is configured for an event; one dictionary lookup."""
        return event in self._config.handlers

    def replace_config(self, config: HookConfig) -> None:
        """Use another configuration from the next event on; running handlers are not affected."""
        self._config = config
        for listener in tuple(self.on_config):
            listener()

    def register(self, specs: Iterable[HandlerSpec]) -> None:
        """Add handlers of a skill, an agent or a library user; remove them by their owner."""
        self.replace_config(self._config.with_specs(specs))

    def unregister(self, owner: str) -> None:
        """Drop the handlers of one skill or agent."""
        self.replace_config(self._config.without_owner(owner))

    def stats(self, spec: HandlerSpec) -> HandlerStats:
        """Return how often a handler ran and how it ended last."""
        return self._stats.get(spec.key, HandlerStats())

    def would_fire(self, payload: Payload) -> tuple[Selection, ...]:
        """Return for every handler of the event whether it would run, and why; start nothing."""
        event = payload.event_name
        specs = self._config.handlers.get(event, ())
        return select(
            specs,
            event,
            self._full_payload(payload),
            self._session,
            finished_once=self._finished_once,
        )

    def begin_prompt(self) -> None:
        """Reset the count of continuations by stop hooks for a new prompt."""
        self._stops.reset()

    def take_background(self) -> BackgroundDelivery:
        """Return new results of background handlers, for the next model request."""
        return self.background.take()

    async def aclose(self, *, wait_s: float = 0.0) -> None:
        """Wait `wait_s` seconds for background handlers, then cancel the rest and wait for their
        end."""
        await self.background.close(wait_s)

    async def run(
        self,
        payload: Payload,
        *,
        abort: Abort | None = None,
        on_start: Callable[[tuple[HandlerSpec, ...]], None] | None = None,
    ) -> EventOutcome:
        """Fire an event and return the outcome of its handlers.

        Failures of handlers are not raised. All handlers that match start together; the outcome is
        merged in configuration order. When `abort` fires they are ended, and their results are
        `cancelled`. `on_start` receives the handlers that are about to start, if there are any.
        """
        event = payload.event_name
        if event == "UserPromptSubmit":
            self.begin_prompt()
        specs = self._config.handlers.get(event)
        if specs is None:
            return self._nothing_fired(event, payload.to_json())
        full = self._full_payload(payload)
        selections = select(specs, event, full, self._session, finished_once=self._finished_once)
        firing = [selection.spec for selection in selections if selection.fires]
        if not firing:
            return self._nothing_fired(event, full)
        if on_start is not None:
            on_start(tuple(firing))
        own_file = self._env_files.prepare(event)
        file_of_others = self._env_files.prepare(event, of_others=True)
        payload_json = dump_json(full)
        results = await self._run_handlers(
            [
                _HandlerTask(
                    spec,
                    self._call(
                        spec,
                        full,
                        payload_json,
                        file_of_others if spec.source in OF_OTHERS else own_file,
                    ),
                )
                for spec in firing
            ],
            abort,
        )
        results_and_files = [self._overflow.cap(result) for result in results]
        used_files = [self._env_files.used_file(one) for one in (own_file, file_of_others)]
        outcome = aggregate(event, [result for result, _ in results_and_files])
        outcome = replace(
            outcome,
            overflow_file=next((file for _, file in results_and_files if file is not None), None),
            env_file=next(filter(None, used_files), None),
        )
        outcome = limit_outcome(full, outcome)
        if EFFECTS[event].is_stop and outcome.outcome is not OutcomeKind.CANCELLED:
            outcome = self._stops.count(full, outcome)
        return outcome

    def _nothing_fired(self, event: str, payload: Mapping[str, object]) -> EventOutcome:
        if EFFECTS[event].is_stop:
            self._stops.reset(payload.get("agent_id"))
        return EventOutcome(event)

    def _full_payload(self, payload: Payload) -> dict[str, object]:
        """Add the common fields to the event's own, which take precedence."""
        session = self._session
        common: dict[str, object] = {
            "session_id": session.session_id,
            "transcript_path": str(session.transcript_path),
            "cwd": str(session.cwd),
        }
        if session.permission_mode is not None:
            common["permission_mode"] = session.permission_mode
        if session.prompt_id is not None:
            common["prompt_id"] = session.prompt_id
        if session.scratch_dir is not None:
            common["scratchpad_dir"] = str(session.scratch_dir)
        effects = EFFECTS[payload.event_name]
        if session.effort is not None and (effects.is_tool_event or effects.is_stop):
            common["effort"] = {"level": session.effort}
        common.update(payload.to_json())
        if effects.is_stop and common.get("stop_hook_active") is None:
            common["stop_hook_active"] = self._stops.is_active(common)
        return common

    def _call(
        self,
        spec: HandlerSpec,
        payload: Mapping[str, object],
        payload_json: bytes,
        env_file: Path | None,
    ) -> HookCall:
        return HookCall(
            spec=spec,
            payload=payload,
            payload_json=payload_json,
            session=self._session,
            ports=self._ports,
            env=hook_environment(
                self._inherited_env(spec),
                self._session,
                payload,
                plugin=spec.plugin,
                skill_dir=spec.skill_dir,
                env_file=env_file,
            ),
            cwd=working_directory(payload, self._session),
            timeout_s=self._timeout_s(spec),
            allowed_urls=self._config.allowed_urls,
            allowed_env_vars=self._config.allowed_env_vars,
            detach=_nothing,
        )

    def _inherited_env(self, spec: HandlerSpec) -> Mapping[str, str]:
        of_others = self._ports.env_of_others
        if of_others is None or spec.source not in OF_OTHERS:
            return self._ports.env
        return of_others

    def _timeout_s(self, spec: HandlerSpec) -> float:
        if spec.event != "SessionEnd":
            return spec.timeout_s or default_timeout_s(spec.event, spec.handler.type)
        # One budget for all handlers: the exit must not take longer than configured.
        own_s = [
            other.timeout_s
            for other in self._config.handlers.get("SessionEnd", ())
            if other.timeout_s is not None and other.source.is_settings
        ]
        budget = min(max([default_timeout_s("SessionEnd", "command"), *own_s]), SESSION_END_MAX_S)
        override = self._ports.env.get(SESSION_END_VARIABLE, "")
        if override.isdigit() and int(override) > 0:
            budget = int(override) / 1000
        return min(spec.timeout_s or budget, budget)

    async def _run_handlers(
        self, handlers: list[_HandlerTask], abort: Abort | None
    ) -> list[HandlerResult]:
        """Start all, wait for those not in the background, return results in configuration
        order."""
        if abort is not None and abort.aborted:
            return [_interruption(handler.spec) for handler in handlers]
        change = asyncio.Event()
        for handler in handlers:
            self._note_start(handler.spec)
            handler.start(self._run_guarded, change)
        try:
            await _wait(handlers, change, abort)
        finally:
            await _end([handler.task for handler in handlers if handler.is_waited_for])
            for handler in handlers:
                if handler.is_detached:
                    self.background.own(handler.task, handler.spec, self._note_end)
        results = [handler.result() for handler in handlers]
        for result in results:
            self._note_end(result)
        return results

    async def _run_guarded(self, call: HookCall) -> HandlerResult:
        """Run one handler; failures and timeouts become results."""
        start_s = self._ports.clock()
        run = HandlerResult(call.spec, HandlerOutcome.NON_BLOCKING_ERROR)
        try:
            if isinstance(call.spec.handler, CommandHandler):
                run = await MODES[call.spec.handler.type].run(call)
            else:
                async with asyncio.timeout(call.timeout_s):
                    run = await MODES[call.spec.handler.type].run(call)
        except TimeoutError:
            error = f"timed out after {call.timeout_s:g} s"
            run = replace(run, outcome=HandlerOutcome.CANCELLED, error=error)
        except Exception as error:  # noqa: BLE001 - a handler must not reach the loop
            run = replace(run, error=failure_text(error))
        run = replace(run, duration_ms=(self._ports.clock() - start_s) * 1000)
        if run.answer.unknown_fields:
            run = self._without_reported_fields(run)
        has_failed = run.outcome in (HandlerOutcome.NON_BLOCKING_ERROR, HandlerOutcome.CANCELLED)
        vetoes = call.spec.blocks_on_failure or (
            EFFECTS[call.spec.event].timeout_blocks and run.outcome is HandlerOutcome.CANCELLED
        )
        run = self.missing.report_once(run, self._config.all())
        return block_on_failure(run) if has_failed and vetoes else run

    def _without_reported_fields(self, run: HandlerResult) -> HandlerResult:
        """Leave out unknown fields that were reported before: some hooks send them every time."""
        keys = [(run.spec.key, name) for name in run.answer.unknown_fields]
        news = tuple(key[1] for key in keys if key not in self._reported_fields)
        self._reported_fields.update(keys)
        return replace(run, answer=replace(run.answer, unknown_fields=news))

    def _note_start(self, spec: HandlerSpec) -> None:
        stats = self.stats(spec)
        self._stats[spec.key] = replace(stats, fire_count=stats.fire_count + 1)

    def _note_end(self, result: HandlerResult) -> None:
        spec = result.spec
        self._stats[spec.key] = replace(
            self.stats(spec),
            last_outcome=result.outcome.value,
            last_duration_ms=result.duration_ms,
            last_error=result.error,
        )
        if spec.runs_once and result.outcome is HandlerOutcome.SUCCESS:
            self._finished_once.add(spec.key)


class _HandlerTask:
    """One running handler, waited for or in the background."""

    def __init__(self, spec: HandlerSpec, call: HookCall) -> None:
        self.spec = spec
        self.task: asyncio.Task[HandlerResult]
        self.is_detached = is_background(spec.handler)
        self._call = call

    @property
    def is_waited_for(self) -> bool:
        """Whether the event's outcome still needs it."""
        return not self.is_detached and not self.task.done()

    def start(
        self,
        run: Callable[[HookCall], Coroutine[object, object, HandlerResult]],
        change: asyncio.Event,
    ) -> None:
        """Start it; `change` is set when it moves itself to the background."""

        def detach() -> None:
            self.is_detached = True
            change.set()

        call = self._call if self.is_detached else replace(self._call, detach=detach)
        self.task = asyncio.create_task(run(call), name=f"hook {self.spec.event}")

    def result(self) -> HandlerResult:
        """Return its result for the event; `async` for a background handler."""
        if self.is_detached:
            return HandlerResult(self.spec, HandlerOutcome.ASYNC)
        if self.task.cancelled():
            return _interruption(self.spec)
        return self.task.result()


async def _wait(
    handlers: Sequence[_HandlerTask], change: asyncio.Event, abort: Abort | None
) -> None:
    """Return when all needed results are there, or on an interrupt."""
    signals: list[asyncio.Future[Any]] = [asyncio.ensure_future(change.wait())]
    if abort is not None:
        signals.append(asyncio.ensure_future(abort.wait()))
    try:
        while tasks := [handler.task for handler in handlers if handler.is_waited_for]:
            futures: list[asyncio.Future[Any]] = [*tasks, *signals]
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            if abort is not None and abort.aborted:
                break
            if signals[0].done():
                change.clear()
                signals[0] = asyncio.ensure_future(change.wait())
    finally:
        for signal in signals:
            signal.cancel()


async def _end(tasks: list[asyncio.Task[HandlerResult]]) -> None:
    """Cancel tasks and wait until their programs have ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _interruption(spec: HandlerSpec) -> HandlerResult:
    return HandlerResult(spec, HandlerOutcome.CANCELLED, error="interrupted before it ended")


def _nothing() -> None:
    """Do nothing: the handler is in the background already."""
