"""The interface to a model: requests, streamed events, errors and the client protocol.

Implementations: `agent.model.anthropic`, `agent.model.providers.wire_client` (other dialects), and
`agent.model.providers.router`, which chooses among them by a model's name. Next:
`agent.model.message_builder` (events to a message), `agent.recovery.classify`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from agent.errors import AgentError
from agent.events import Usage
from agent.messages import Block, Message

Effort = Literal["low", "medium", "high", "xhigh", "max"]


class ModelRequest(Struct, frozen=True):
    """One request. `system` and `tools` are the same objects for a whole conversation."""

    model: str
    system: tuple[Block, ...]
    tools: tuple[Mapping[str, object], ...]
    messages: Sequence[Message]
    max_tokens: int
    effort: Effort | None = None
    thinking: bool = True
    """Whether to ask for thinking, with summaries if it is adaptive."""
    tool_choice: dict[str, object] | None = None
    betas: tuple[str, ...] = ()
    extra_body: Mapping[str, object] = field(default_factory=dict)
    output_schema: Mapping[str, object] | None = None
    """JSON schema that the answer's text must follow, if the endpoint can enforce it."""
    compaction: str | None = None
    """Instructions for a signed summary of all messages, instead of an answer."""
    without: frozenset[str] = frozenset()
    """Features that the endpoint does not support: `cache_control`, `effort`, `thinking`, `betas`,
    `context_management`, `signed_compaction`, `strict`, `output_schema`, `reasoning_text`,
    `system_messages` within the conversation, `code_calls`, and `kept_thinking` for that of
    earlier answers."""


class MessageStart(Struct, frozen=True):
    """First event of a response."""

    api_id: str
    model: str
    usage: Usage
    type: Literal["message_start"] = "message_start"


class BlockStart(Struct, frozen=True):
    """A content block opens; `block` is as received (`tool_use` has id and name)."""

    index: int
    block: Block
    type: Literal["block_start"] = "block_start"


class BlockDelta(Struct, frozen=True):
    """More of the block at `index`; `delta` is as received (`text_delta`, `thinking_delta`, …)."""

    index: int
    delta: dict[str, object]
    type: Literal["block_delta"] = "block_delta"


class BlockStop(Struct, frozen=True):
    """The block at `index` is complete."""

    index: int
    type: Literal["block_stop"] = "block_stop"


class MessageDelta(Struct, frozen=True):
    """Stop reason and cumulative usage; numbers overwrite those of `MessageStart`."""

    stop_reason: str | None
    stop_details: Mapping[str, object] | None
    usage: Mapping[str, object]
    """As received: absent counts keep their earlier value."""
    container: str | None = None
    """Id of the container in which the endpoint's code waits for tool results."""
    type: Literal["message_delta"] = "message_delta"


class MessageStop(Struct, frozen=True):
    """The response is complete. A stream that ends without it was cut."""

    type: Literal["message_stop"] = "message_stop"


ModelEvent = MessageStart | BlockStart | BlockDelta | BlockStop | MessageDelta | MessageStop


class EndpointNames(Struct, frozen=True):
    """Names, not values, of the variables and settings that configure an endpoint, for messages."""

    key: str = "ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN)"
    address: str = "ANTHROPIC_BASE_URL"
    api: str = "Messages API"


class ModelError(AgentError):
    """One request failed.

    `kind` is the error code or type of the endpoint (`overloaded_error`, `rate_limit_error`,
    `authentication_error`, …) or one of our own: `connection`, `unreachable`, `proxy`, `timeout`,
    `stalled`, `cut`, `malformed`, `redirected`, `not_configured`. `status` is None if no response
    arrived (or the error was inside a stream). `phase` is how far the response had got.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        request_id: str | None = None,
        phase: Literal["connect", "headers", "stream"] = "connect",
    ) -> None:
        """`message` is the endpoint's text or our own, without secrets."""
        self.kind = kind
        self.status = status
        self.headers = {k.lower(): v for k, v in (headers or {}).items()}
        self.request_id = request_id
        self.phase = phase
        self.names = EndpointNames()
        """Of the endpoint that failed; callers that know the provider replace them."""
        super().__init__(message)


class ModelCapabilities(Struct, frozen=True):
    """What a model supports; `source` is where the data comes from."""

    model: str
    context_window: int
    max_output_tokens: int
    adaptive_thinking: bool
    can_disable_thinking: bool
    efforts: tuple[Effort, ...]
    mid_conversation_system: bool
    """Whether a `system` role is accepted inside `messages`."""
    prompt_caching: bool = True
    count_tokens: bool = True
    signed_compaction: bool = False
    """Whether the endpoint writes and signs summaries: the `compaction` field."""
    clears_tool_results: bool = False
    """Whether the endpoint can remove old tool results: the `context_management` field."""
    clears_thinking: bool = False
    """Whether the endpoint can be asked to keep the thinking of earlier answers."""
    served_tools: tuple[str, ...] = ()
    """Names of the tools that the endpoint runs itself."""
    structured_outputs: bool = False
    """Whether the endpoint can enforce the schemas of answers and tool calls."""
    advises: bool = False
    """Whether the endpoint offers a tool by which another of its models advises."""
    budget_thinking: bool = False
    """Whether thinking takes a budget in tokens, as in models before adaptive thinking."""
    source: Literal["endpoint", "server", "settings", "table", "guess"] = "table"

    @property
    def can_think(self) -> bool:
        """Whether the model thinks when asked to."""
        return self.adaptive_thinking or self.budget_thinking

    def within(self, window: int | None, output: int | None) -> ModelCapabilities:
        """Return a copy limited to `window` and `output` tokens; None keeps the value."""
        window = min(window or self.context_window, self.context_window)
        output = min(output or self.max_output_tokens, self.max_output_tokens, window)
        return replace(self, context_window=window, max_output_tokens=output)


class ModelClient(Protocol):
    """A model endpoint."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream one response. Never retries, and never hides that a stream was cut.

        Raises:
            ModelError: for every failure of the endpoint or the connection.
        """
        ...

    def known_capabilities(self, model: str) -> ModelCapabilities:
        """Return what is known of the model without asking the endpoint."""
        ...

    async def capabilities(self, model: str) -> ModelCapabilities:
        """Return what the model supports, from a built-in table if need be; never raises."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt's token count, or None if the endpoint does not count tokens."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
