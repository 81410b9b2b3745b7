"""The program's own agent from Python, with its tools, permissions, hooks and sessions.

    agent = CodingAgent(directory=Path("."), allow=["Bash(pytest *)"])
    result = await agent.run("Fix the failing test")

`run_sync` is the same without asyncio, `run_streamed` yields the agent events as they happen, and
`as_tool` offers it to other agents. There is no dialog: a call that would ask is denied, unless
`approve` allows it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from agent.assembly.assemble import (
    Assembled,
    Environment,
    UserPorts,
    assemble,
    environment_from,
    settings_for,
)
from agent.errors import UsageError
from agent.events import AgentEvent, ErrorEvent, MessageCommitted, Terminal, Usage
from agent.library.base.run_exceptions import AgentsException, MaxTurnsExceeded
from agent.library.program.callback_hooks import HookFunction, callback_hooks
from agent.library.tools.function_tool import FunctionTool, function_tool
from agent.loop.answer_text import AnswerText
from agent.messages import Message
from agent.model.endpoint import ModelSetup, Unconfigured, resolve_model
from agent.options import RunOptions
from agent.user_prompt import Prompt
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.handlers import user_decision

Approve = Callable[[PermissionRequest, Decision], Awaitable[bool]]
"""Decides about a call that would ask; True allows it."""


class CodingTurnsExceeded(MaxTurnsExceeded):
    """The run reached its limit of turns; `result` is its unfinished result."""

    def __init__(self, result: CodingResult) -> None:
        """Store the unfinished result."""
        self.result = result
        super().__init__(f"The run stopped after {result.turns} turns without finishing.")


class CodingRunFailed(AgentsException):
    """The run ended with an error of the endpoint; `result` is its unfinished result."""

    def __init__(self, result: CodingResult, message: str) -> None:
        """Store the unfinished result; `message` is the endpoint's error."""
        self.result = result
        super().__init__(message)


class CodingResult(Struct, frozen=True):
    """The result of a run."""

    final_output: str
    """The last text of the model; empty if it wrote none."""
    messages: tuple[Message, ...]
    """The whole history, valid to continue from."""
    new_messages: tuple[Message, ...]
    """The messages that this run added."""
    reason: str
    """A `TerminalReason`."""
    turns: int
    usage: Usage
    """Usage of the whole session."""
    cost_usd: float
    session_id: str
    """Pass it as `session` to continue the conversation."""

    def to_input_list(self) -> list[dict[str, object]]:
        """Return the history in the format of the Messages API."""
        return [message.to_wire() for message in self.messages]


class CodingConfig(Struct, frozen=True, kw_only=True):
    """Configuration of runs; the defaults are those of the program in the current directory."""

    directory: Path | None = None
    """Working directory; None means the process's."""
    session: str | None = None
    """Id of a session to continue; None starts a new one."""
    model: str | None = None
    effort: str | None = None
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    permission_mode: str | None = None
    allow: Sequence[str] = ()
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    add_dirs: Sequence[Path] = ()
    max_turns: int | None = None
    max_budget_usd: float | None = None
    trust: bool = False
    approve: Approve | None = None
    hooks: Mapping[str, Sequence[HookFunction]] = field(default_factory=dict)
    """Python functions by hook event, run like any other hook."""
    env: Mapping[str, str] | None = None
    """Environment variables; None means the process's."""
    setup: ModelSetup | None = None
    """A model that is set up already; None sets it up from `env` and settings."""
    on_max_turns: Callable[[CodingResult], str] | None = None
    """Returns the final output to use instead of raising `CodingTurnsExceeded`."""


class StreamedCodingRun:
    """A run in progress: iterate `stream_events`, then read `result`."""

    def __init__(self, prompt: str, config: CodingConfig) -> None:
        """The run starts when the first event is requested."""
        self._prompt = prompt
        self._config = config
        self.result: CodingResult | None = None
        """The result, once the events have ended."""

    async def stream_events(self) -> AsyncIterator[AgentEvent]:
        """Yield every event of the run; `Terminal` is the last."""
        async with _conversation(self._config) as assembly:
            conversation = assembly.conversation
            old_count = len(conversation.view.messages)
            answer = AnswerText()
            terminal: Terminal | None = None
            async for event in conversation.run(Prompt(self._prompt)):
                if isinstance(event, MessageCommitted) and event.agent_id is None:
                    answer.on_message(event.message)
                if isinstance(event, Terminal):
                    terminal = event
                yield event
            assert terminal is not None, "a run ends with Terminal"
            self.result = CodingResult(
                final_output=answer.text,
                messages=conversation.view.messages,
                new_messages=conversation.view.messages[old_count:],
                reason=terminal.reason,
                turns=terminal.turns,
                usage=conversation.status.usage,
                cost_usd=conversation.status.cost_usd,
                session_id=conversation.view.session_id,
            )


class CodingAgent:
    """The program's agent, working in a directory."""

    def __init__(self, config: CodingConfig | None = None, **changes: Any) -> None:
        """Keyword arguments are fields of `CodingConfig` and override those of `config`."""
        self.config = replace(config or CodingConfig(), **changes)

    async def run(self, prompt: str, *, session: str | None = None) -> CodingResult:
        """Run one prompt to its end; `session` is the id of a conversation to continue.

        Raises:
            CodingTurnsExceeded: the limit of turns is reached (see `CodingConfig.on_max_turns`).
            CodingRunFailed: the endpoint failed, and retries did not help.
            AgentError: settings, session or model cannot be used.
        """
        run = self.run_streamed(prompt, session=session)
        failure = ""
        async for event in run.stream_events():
            if isinstance(event, ErrorEvent):
                failure = event.message
        assert run.result is not None
        if run.result.reason == "max_turns":
            if self.config.on_max_turns is None:
                raise CodingTurnsExceeded(run.result)
            return replace(run.result, final_output=self.config.on_max_turns(run.result))
        if run.result.reason in {"error", "prompt_too_long"}:
            raise CodingRunFailed(run.result, failure)
        return run.result

    def run_sync(self, prompt: str, *, session: str | None = None) -> CodingResult:
        """Like `run`, for code without asyncio. Raises as `run`."""
        return asyncio.run(self.run(prompt, session=session))

    def run_streamed(self, prompt: str, *, session: str | None = None) -> StreamedCodingRun:
        """Return a run whose events can be iterated."""
        chosen = self.config if session is None else replace(self.config, session=session)
        return StreamedCodingRun(prompt, chosen)

    def as_tool(self, tool_name: str, tool_description: str) -> FunctionTool:
        """Return a tool that runs one prompt and returns the final output."""

        async def work(prompt: str) -> str:
            return (await self.run(prompt)).final_output

        tool: FunctionTool = function_tool(
            work, name_override=tool_name, description_override=tool_description
        )
        return tool


@asynccontextmanager
async def _conversation(config: CodingConfig) -> AsyncIterator[Assembled]:
    env = os.environ if config.env is None else config.env
    directory = (config.directory or Path.cwd()).absolute()
    environment = environment_from(env, directory, version="")
    options = _options(config)
    settings = settings_for(options, environment)
    setup = config.setup or _setup(config, environment)
    dialog: Contender | None = _Approver(config.approve) if config.approve is not None else None
    assembly = await assemble(options, environment, settings, setup, UserPorts(dialog=dialog))
    try:
        assembly.hook_runner.register(callback_hooks(config.hooks))
        yield assembly
    finally:
        await assembly.conversation.aclose()


def _options(config: CodingConfig) -> RunOptions:
    return RunOptions(
        headless=True,
        resume=config.session,
        model=config.model,
        effort=config.effort,
        permission_mode=config.permission_mode,
        allow=tuple(config.allow),
        ask=tuple(config.ask),
        deny=tuple(config.deny),
        add_dirs=tuple(config.add_dirs),
        max_turns=config.max_turns,
        max_budget_usd=config.max_budget_usd,
        system_prompt=config.system_prompt,
        append_system_prompt=config.append_system_prompt,
        trust=config.trust,
    )


def _setup(config: CodingConfig, environment: Environment) -> ModelSetup:
    setup = resolve_model(env=environment.env, flag_model=config.model)
    if isinstance(setup, Unconfigured):
        raise UsageError(setup.reason)
    return setup


class _Approver:
    """A function that takes the place of the permission dialog."""

    name = "dialog"

    def __init__(self, approve: Approve) -> None:
        self._approve = approve

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        if await self._approve(request, pending):
            return user_decision(Behavior.ALLOW, message="Allowed by the calling program.")
        return user_decision(
            Behavior.DENY,
            feedback="The calling program does not allow this.",
            message="Declined by the calling program.",
        )
