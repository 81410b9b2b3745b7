"""One tool call in progress: what it needs, what it knows so far, how it ends.

Next: `agent.tools.lifecycle` (its steps in order).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from msgspec import Struct, field

from agent.abort import AbortSignal
from agent.display import Display
from agent.messages import Block, ToolUse
from agent.stream import TurnEvents
from agent.tools.base import AnyTool, ToolContext
from agent.tools.live_output import LiveOutput
from agent.tools.registry import ToolRegistry
from agent.tools.repeated_failures import RepeatedFailures
from agent.tools.services import ToolServices
from hooks.answers.outcome import EventOutcome
from permissions.confinement import Confinement
from permissions.gate import PermissionGate

Outcome = Literal["ok", "failed", "denied", "interrupted", "invalid"]


MAX_CONCURRENT: Final = 10


class CallHooks(Protocol):
    """The hook events around one call; `agent.hook_events.hook_dispatch` implements it."""

    async def pre_tool_use(
        self, call: ToolUse, tool_input: Mapping[str, object], abort: AbortSignal
    ) -> EventOutcome | None:
        """Return the merged outcome, or None when no handler matches."""
        ...

    async def post_tool_use(
        self,
        call: ToolUse,
        tool_input: Mapping[str, object],
        response: object,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Like `pre_tool_use`, after a success."""
        ...

    async def post_tool_use_failure(
        self,
        call: ToolUse,
        tool_input: Mapping[str, object],
        error: str,
        *,
        is_interrupt: bool,
        duration_ms: int,
        abort: AbortSignal,
    ) -> EventOutcome | None:
        """Like `pre_tool_use`, after a run that failed."""
        ...

    async def permission_denied(
        self, call: ToolUse, tool_input: Mapping[str, object], reason: str
    ) -> EventOutcome | None:
        """Like `pre_tool_use`, after a rule, mode, scope or classifier denied a call."""
        ...

    def classifier_context(self) -> tuple[str, ...]:
        """Return notes that hooks left for the permission classifier."""
        ...


class CallRecorder(Protocol):
    """Records each run before its start and after its end: a crash causes no repetition."""

    async def tool_started(
        self, call: ToolUse, tool_input: Mapping[str, object], agent_id: str | None
    ) -> None:
        """Record durably that the call is about to run."""
        ...

    async def tool_ended(
        self,
        call: ToolUse,
        block: Block,
        outcome: str,
        elapsed_s: float,
        identifier: str,
        agent_id: str | None,
        display: Display | None = None,
    ) -> None:
        """Record durably what the model will receive."""
        ...


class CallPorts(Struct, frozen=True):
    """What the lifecycle of a call needs from the conversation."""

    registry: ToolRegistry
    gate: PermissionGate
    hooks: CallHooks
    services: ToolServices
    recorder: CallRecorder | None = None
    previews: dict[str, Display | None] | None = None
    """Filled by tool_use_id before the user is asked; the dialog reads it."""
    max_concurrent: int = MAX_CONCURRENT
    """How many calls that only read run at once."""
    failures: RepeatedFailures = field(default_factory=RepeatedFailures)
    agent_type: str | None = None
    """The kind of sub-agent that makes the calls; None for the main agent."""


class CallOutcome(Struct, frozen=True):
    """How one call ended."""

    tool_use_id: str
    block: Block
    """The `tool_result` for the model."""
    outcome: Outcome
    tool_name: str
    ends_turn: bool = False
    """The user denied without a comment, or a hook stopped the turn."""
    stop_reason: str = ""
    """Why a hook stopped the turn; empty if the user did."""
    additional_context: tuple[str, ...] = ()
    """What hooks add for the model, after the results."""
    identifier: str = ""
    """The line of its card."""
    aborts_siblings: bool = False
    """The run failed in a way that makes its concurrent neighbors pointless."""
    response: object = None
    """The serialized result for PostToolBatch hooks."""
    visible_input: Mapping[str, object] | None = None
    """The input as hooks saw it; None if it could not be parsed."""


class Refused(Exception):
    """Raised to end a call before its run, or instead of returning its result."""

    def __init__(
        self,
        outcome: Outcome,
        text: str,
        *,
        fact: str = "",
        ends_turn: bool = False,
        stop_reason: str = "",
    ) -> None:
        """`text` is for the model; a `fact` that is not empty is shown to users instead.

        The other two have the same meaning as in `CallOutcome`.
        """
        self.outcome: Outcome = outcome
        self.text = text
        self.fact = fact
        self.ends_turn = ends_turn
        self.stop_reason = stop_reason
        super().__init__(text)


class Ready(Struct, frozen=True):
    """A call whose input passed both validations."""

    tool: AnyTool
    parsed_input: object
    visible_input: Mapping[str, object]
    """What rules, hooks and users see."""
    target: str = ""
    """After the decision: the file that was decided about, links resolved."""
    confinement: Confinement = Confinement.READ_ONLY
    """After the decision: the confinement that it assumed."""
    write_dirs: tuple[str, ...] = ()
    """After the decision: directories outside the working directories that it may write to."""


class RunningCall(Struct):
    """The mutable state of a call during its lifecycle."""

    use: ToolUse
    ports: CallPorts
    events: TurnEvents
    abort: AbortSignal
    context: ToolContext
    live: LiveOutput
    identifier: str
    """The line of its card; the tool's name until the input was read."""
    additional_context: list[str] = field(default_factory=list)
    visible_input: Mapping[str, object] | None = None
    """The input as rules, hooks and users see it, once it was read."""
    comment: str = ""
    """The user's comment on their approval."""
    user_change: str = ""
    """What the user changed of the input before they approved, as text for the model."""
    was_asked: bool = False
    ends_turn: bool = False
    """A hook stopped the turn after the run."""
    stop_reason: str = ""
    """Why it did."""
    has_started: bool = False
    is_repeated: bool = False
    """It was not run because it had failed before; this does not count as another failure."""
    aborts_siblings: bool = False
    display: Display | None = None
    """What its result shows; None before the result, and if it is plain text."""
    elapsed_s: float = 0.0
    """How long it ran, without waiting for permission; 0 before its result."""

    @classmethod
    def begin(
        cls, use: ToolUse, ports: CallPorts, events: TurnEvents, abort: AbortSignal
    ) -> RunningCall:
        """Return the initial state of a call."""
        live = LiveOutput(events, use.id)
        context = ToolContext(
            tool_use_id=use.id,
            turn_id=events.turn_id,
            agent_id=events.agent_id,
            abort=abort,
            progress=live.add,
            services=ports.services,
        )
        return cls(use, ports, events, abort, context, live, use.name)

    def collect(self, hook: EventOutcome) -> None:
        """Store what a hook adds for the model."""
        if hook.additional_context:
            self.additional_context.append(hook.additional_context)

    def collect_after_run(self, hook: EventOutcome, event: str) -> None:
        """Store what a hook adds after the run, and whether it stops the turn."""
        self.collect(hook)
        if not hook.continue_:
            self.ends_turn = True
            self.stop_reason = hook.stop_reason or f"a {event} hook stopped the turn"
