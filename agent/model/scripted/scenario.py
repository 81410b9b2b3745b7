"""The scripted server's answers: turns, conditions that choose them, pace, faults, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from agent.model.scripted.faults import Fault


class Text(Struct, frozen=True):
    """A text block."""

    text: str


class Thinking(Struct, frozen=True):
    """A thinking block; hidden thinking has an empty text and a signature."""

    text: str = ""
    signature: str | None = None
    """None: the server signs it with the digest of everything before it, and checks it later."""


class ToolCall(Struct, frozen=True):
    """A `tool_use` block."""

    name: str
    input: Mapping[str, object] = field(default_factory=dict)
    id: str | None = None
    """None: a fresh id per response."""
    input_json: str | None = None
    """Sent instead of `input`, so that it may be invalid; "" sends no delta at all."""


class RawBlock(Struct, frozen=True):
    """Any other block: opened as given, followed by its deltas as given."""

    block: Mapping[str, object]
    deltas: tuple[Mapping[str, object], ...] = ()


Part = Text | Thinking | ToolCall | RawBlock

ResultKind = Literal["none", "any", "ok", "error", "denied"]


class When(Struct, frozen=True):
    """Conditions on a request; all given ones must hold. Patterns are regular expressions, searched
    case-insensitively."""

    prompt: str | None = None
    """Matches the newest text a user (or a reminder) sent."""
    result: ResultKind | None = None
    """How the tool results in the last message ended; `denied` is an error that mentions
    permission."""
    result_text: str | None = None
    """Matches the text of the tool results in the last message."""
    result_tool: str | None = None
    """Name of a tool with a result in the last message."""
    after: str | None = None
    """Name of the turn that wrote the last assistant message of this conversation, or several names
    joined by `|`; "" holds when there is none."""
    system: str | None = None
    model: str | None = None
    has_tool: str | None = None
    """Name of an offered tool; "" holds if no tool is offered."""
    body: str | None = None
    """Matches the whole request as JSON text."""
    request: int | None = None
    """Number of the request, counted from 1."""


class Pace(Struct, frozen=True):
    """Timing and slicing of an answer."""

    tokens_per_s: float = 0.0
    """0 sends as fast as the connection allows."""
    first_token_s: float = 0.0
    """Wait before the first event."""
    delta_tokens: int = 0
    """Words per delta; 0 means one if paced, else eight."""
    chunk_bytes: int = 0
    """Size of the pieces in which bytes are written, regardless of event boundaries; 0 writes one
    event at a time, a negative size everything at once."""


class Turn(Struct, frozen=True):
    """One answer."""

    parts: tuple[Part, ...] = ()
    name: str = ""
    when: When = When()
    times: int = 1
    """How often it may be used; 0 means no limit."""
    stop_reason: str | None = None
    """None: `tool_use` when there is a tool call, else `end_turn`."""
    stop_details: Mapping[str, object] | None = None
    usage: Mapping[str, object] = field(default_factory=dict)
    """Replaces computed counts by name, in both usage records."""
    pace: Pace | None = None
    fault: Fault | None = None


class FaultPlan(Struct, frozen=True):
    """When a fault happens; all given conditions must hold."""

    fault: Fault
    request: int | None = None
    """Number of the request, counted from 1."""
    turn: str | None = None
    when: When = When()
    path: str = "/v1/messages"
    times: int = 1
    """0 means no limit."""


class ModelInfo(Struct, frozen=True):
    """One model as `/v1/models/{id}` describes it, and what its requests may contain."""

    id: str
    max_input_tokens: int = 200_000
    max_tokens: int = 64_000
    adaptive_thinking: bool = True
    can_disable_thinking: bool = True
    efforts: tuple[str, ...] = ("low", "medium", "high", "xhigh", "max")
    sampling: bool = False
    """Whether sampling parameters such as `temperature` are accepted."""
    system_messages: bool = True
    """Whether a `system` role is accepted inside `messages`."""
    signed_compaction: bool = False
    """Whether the `compaction` field is accepted; it turns a turn's text into a signed summary."""
    advises: bool = False
    """Whether it accepts the endpoint's advisor tool, whose advice is in the script."""
    served: tuple[str, ...] = ()
    """Other tools that it runs itself; their results are in the script."""
    structured_outputs: bool = False
    """Whether it reports that it enforces strict schemas; they are checked in any case."""
    clears_tool_results: bool = False
    """Whether `context_management` is accepted; nothing is actually removed."""
    clears_thinking: bool = False
    """Whether `context_management` may contain the edit for thinking."""


class Scenario(Struct, frozen=True):
    """A whole script. A request is answered by the first turn that is not used up and whose
    conditions hold, else by `otherwise`, else with an error 400."""

    name: str = "scenario"
    turns: tuple[Turn, ...] = ()
    otherwise: Turn | None = None
    pace: Pace = Pace()
    faults: tuple[FaultPlan, ...] = ()
    models: tuple[ModelInfo, ...] = ()
    any_model: bool = True
    """Whether models that are not listed exist too."""
    strict: bool = True
    """Whether to reject what the real endpoint rejects."""
    bound_thinking: bool = True
    """Whether to reject a thinking block whose prefix was edited."""
    api_key: str | None = None
    """The key that clients must send; None accepts any."""
    auth_style: Literal["any", "bearer", "x-api-key"] = "any"
    count_tokens: bool = True
    models_endpoint: bool = True
    min_cache_tokens: int = 512
    variables: Mapping[str, str] = field(default_factory=dict)
    """Values for `${name}` in texts and tool inputs; a server's own variables take precedence."""
