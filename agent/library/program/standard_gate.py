"""The gate of every run: calls of a caller's tools pass the same steps as the program's calls.

`agent.tools.lifecycle` runs them: rules, hooks, the tool, hooks. A tool of the caller runs unless a
rule or a hook objects, because the caller wrote it. An ask becomes an approval.
"""

from __future__ import annotations

import asyncio
import tempfile
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from pydantic import BaseModel

from agent.abort import AbortController
from agent.hook_events.config import hook_config
from agent.hook_events.fire import HookFiring
from agent.hook_events.hook_dispatch import HookDispatch
from agent.library.base.raw_items import RawItem
from agent.library.program.callback_hooks import HookFunction, callback_hooks
from agent.library.program.program_setup import ProgramSetup, read_setup
from agent.messages import ToolUse
from agent.options import RunOptions
from agent.permission_config.bare_services import bare_services
from agent.permission_config.permission_context import permission_setup
from agent.settings.load import Settings
from agent.stream import TurnEvents, discard
from agent.tools.base import AnyTool, ToolContext, ToolOutcome, build_tool
from agent.tools.call import CallOutcome, CallPorts
from agent.tools.lifecycle import run_call
from agent.tools.registry import ToolRegistry
from agent.tools.services import ToolServices
from hooks.config.config import HookConfig
from hooks.contender import HookContender
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.process.child_environment import child_environment
from permissions.context import PermissionContext
from permissions.decision import Behavior, Decision, Reason, TraceStep
from permissions.evaluate.cascade import Evaluation
from permissions.gate import PermissionGate
from permissions.request import PermissionRequest
from permissions.resolve.handlers import HeadlessHandler, user_decision
from permissions.resolve.race import Abort

Arguments = Mapping[str, RawItem]
Work = Callable[[Arguments], Awaitable[ToolOutcome]]
Decide = Callable[[str], Awaitable[RawItem]]
"""Takes the reason for an ask; returns None to run the call, else the value that ends it."""

_NO_OBJECTION: Final = {Reason.MODE_DEFAULT, Reason.UNKNOWN_TOOL}
"""Reasons that apply to any caller's tool: the mode's default ask, and an unknown tool."""


class CallStopped(BaseException):
    """Ends a call without a result. Not an `Exception`, as those become results for the model."""

    def __init__(self, answer: RawItem) -> None:
        """`answer` replaces the output."""
        super().__init__()
        self.answer = answer


class StandardGate:
    """Rules and hooks of one directory, for any number of runs."""

    def __init__(
        self, setup: ProgramSetup, context: PermissionContext, hooks: HookConfig, state: Path
    ) -> None:
        """`context` contains the rules; `state` is a directory that is created when needed."""
        self._setup = setup
        self._context = context
        self._hooks = hooks
        self._state = state
        self._env = child_environment(setup.environment.env, setup.settings.env)
        self._services = bare_services(setup.settings, self._env, state, context)

    def begin(
        self, session_id: str, transcript: Path | None = None, *, agent: str | None = None
    ) -> RunGate:
        """Return the gate of one run.

        Args:
            session_id: Id of the conversation; an agent that another one called has the other's.
            transcript: File of the session; None if there is none.
            agent: Name of an agent that another agent's run called; None for the outermost.
        """
        environment = self._setup.environment
        session = HookSession(
            session_id=session_id,
            transcript_path=transcript or self._state / "none.jsonl",
            project_dir=self._setup.settings.project_root,
            home=environment.home,
            state_dir=self._state,
            cwd=environment.launch_dir,
        )
        own_env = child_environment(environment.env, self._setup.settings.own_env)
        ports = HookPorts(env=own_env, env_of_others=self._env)
        runner = HookRunner(self._hooks, session=session, ports=ports)
        agent_id = uuid.uuid4().hex if agent is not None else None
        firing = HookFiring(runner, session, agent_id=agent_id, agent_type=agent)
        firing.begin_turn("library", uuid.uuid4().hex)
        return RunGate(self._setup.settings, self._context, self._services, HookDispatch(firing))


class RunGate:
    """Rules and hooks of one run."""

    def __init__(
        self,
        settings: Settings,
        context: PermissionContext,
        services: ToolServices,
        dispatch: HookDispatch,
    ) -> None:
        """`dispatch` fires the hooks."""
        self.settings = settings
        self._context = context
        self._services = services
        self._outcomes: list[tuple[ToolUse, CallOutcome]] = []
        self.dispatch = dispatch

    async def run(self, use: ToolUse, work: Work, decide: Decide) -> CallOutcome:
        """Run a call of a caller's tool, if it is allowed.

        Args:
            use: the call, with the tool's name in rules and hooks.
            work: runs the tool with the arguments after hooks; raises ToolError on failure.
            decide: called if a rule or a hook asks.

        Raises:
            CallStopped: `decide` or `work` ended it.
        """
        ports = CallPorts(
            ToolRegistry([_tool(use.name, work)]),
            _CallerPermissions(self._context, HookContender(self.dispatch.runner), decide),
            self.dispatch.tools,
            self._services,
        )
        events = TurnEvents(discard, "library")
        outcome = await run_call(use, ports, events, AbortController().signal)
        self._outcomes.append((use, outcome))
        return outcome

    def take_outcomes(self) -> list[tuple[ToolUse, CallOutcome]]:
        """Return the calls that ended since the last call of this method, in that order."""
        outcomes, self._outcomes = self._outcomes, []
        return outcomes


class _CallerPermissions(PermissionGate):
    """The permission rules as they apply to a caller's tools."""

    def __init__(self, context: PermissionContext, hooks: HookContender, decide: Decide) -> None:
        super().__init__(context, HeadlessHandler())
        self._hook_answers = hooks
        self._decide = decide

    def evaluation(self, request: PermissionRequest, *, cwd: Path | None = None) -> Evaluation:
        evaluation = super().evaluation(request, cwd=cwd)
        decision = evaluation.decision
        has_rule = any(entry.rule for entry in decision.trace if entry.step is TraceStep.ASK)
        is_objection = has_rule or decision.ask_reasons - _NO_OBJECTION
        if decision.behavior is not Behavior.ASK or is_objection:
            return evaluation
        return replace(evaluation, decision=replace(decision, behavior=Behavior.ALLOW))

    async def resolve(
        self,
        request: PermissionRequest,
        pending: Decision,
        abort: Abort,
        *,
        cwd: Path | None = None,
        evaluation: Evaluation | None = None,
    ) -> Decision:
        answer = await self._hook_answers.decide(request, pending)
        if answer is not None:
            return answer
        stop = await self._decide(pending.message)
        if stop is not None:
            raise CallStopped(stop)
        return user_decision(Behavior.ALLOW)


class _Given(BaseModel):
    """The arguments; the caller's tool checks them itself."""

    values: dict[str, RawItem]


def _tool(name: str, work: Work) -> AnyTool:
    async def run(arguments: _Given, _context: ToolContext) -> ToolOutcome:
        return await work(arguments.values)

    tool = build_tool(name="tool", description="", input_model=_Given, run=run)
    return replace(tool, name=name, parse=lambda raw: _Given.model_construct(values=dict(raw)))


_gates: dict[Path, StandardGate] = {}


async def standard_gate() -> StandardGate:
    """Return the gate of the current directory; its settings are read once.

    Raises:
        ConfigError: required settings are invalid.
    """
    directory = Path.cwd()
    if directory not in _gates:
        _gates[directory] = await asyncio.to_thread(program_gate, directory)
    return _gates[directory]


def program_gate(
    directory: Path | None = None,
    *,
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
    hooks: Mapping[str, Sequence[HookFunction]] | None = None,
    env: Mapping[str, str] | None = None,
) -> StandardGate:
    """Return the gate of a directory, with the caller's rules and hooks added to the settings'.

    Args:
        ask: Rules whose calls wait for approval: a tool's name, or a pattern as in settings.
        deny: Rules whose calls never run.
        hooks: Python functions by hook event, such as `PreToolUse`, `UserPromptSubmit` or `Stop`.
        env: Environment variables; None means the process's.

        Raises:
            ConfigError: required settings are invalid.
    """
    options = RunOptions(headless=True, ask=tuple(ask), deny=tuple(deny))
    setup = read_setup(directory, env, options)
    context = permission_setup(setup.settings, bypass_available=False).context
    state = Path(tempfile.gettempdir()) / f"agent-library-{uuid.uuid4().hex}"
    config = hook_config(setup.settings).with_specs(callback_hooks(hooks or {}))
    return StandardGate(setup, context, config, state)
