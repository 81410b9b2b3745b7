"""The model and effort of the next request, and the capabilities of that model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.commands.turn_scope import ModelChoice
from agent.conversation.accounting import Totals
from agent.errors import ConfigError, SwitchRefused
from agent.messages import Message
from agent.model.client import Effort, ModelCapabilities
from agent.model.endpoint import ModelSetup, expand_alias

if TYPE_CHECKING:
    from agent.model.providers.router import ModelRouter


class ModelNotNamed(ConfigError):
    """No setting selects one of the endpoint's models."""

    def __init__(self, base_url: str, models: tuple[str, ...]) -> None:
        """`models` are those that the endpoint lists; may be empty."""
        listing = "It listed none: check that it runs and has loaded its model."
        if models:
            listing = f"It has: {', '.join(models[:10])}."
        super().__init__(
            f"{base_url} is not Anthropic's API, so no model is assumed. "
            f"Name one with --model or ANTHROPIC_MODEL. {listing}"
        )
        self.base_url = base_url
        self.models = models


async def choose_model(
    client: ModelRouter,
    setup: ModelSetup,
    *,
    requested_model: str | None,
    earlier_model: str | None,
) -> str:
    """Return the model to start with.

    Args:
        client: lists the models if nothing else selects one.
        setup: the endpoint, and the model that settings name.
        requested_model: as named on the command line.
        earlier_model: the model of the session that is continued.

    Raises:
        ModelNotNamed: nothing names a model, and the endpoint does not have exactly one.
    """
    model = (requested_model and setup.model) or earlier_model or setup.model
    if model:
        return model
    models = await client.main.list_models()
    if len(models) == 1:
        return models[0]
    raise ModelNotNamed(setup.endpoint.base_url, models)


class ModelInUse:
    """The model, effort and thinking of one conversation, changed by its user and commands."""

    def __init__(
        self,
        client: ModelRouter,
        model: str,
        effort: Effort | None,
        *,
        wants_thinking: bool = True,
        on_effort: Callable[[Effort | None], None] = lambda _: None,
        totals: Totals | None = None,
        limits: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """`effort` None means the model's default; `on_effort` receives every change of it.
        `totals` and `limits` are those of a resumed session."""
        self._client = client
        self.model = model
        self.limits = dict(limits or {})
        """By model, context window and output limit in tokens that errors named; 0 if unknown."""
        self.effort = effort
        self._wants_thinking = wants_thinking
        self.capabilities: ModelCapabilities = self._apply_limits(client.known_capabilities(model))
        self.totals = totals if totals is not None else Totals()
        """Totals of the conversation; their window is that of the model."""
        self.totals.context_window = self.capabilities.context_window
        self._on_effort = on_effort
        self.served_tools: Callable[[], Sequence[dict[str, object]]] = tuple
        """Returns the tools that the endpoint runs itself."""
        self.advisor_tools: Callable[[], Sequence[dict[str, object]]] = tuple
        """Returns the tools for consulting another model; they follow all other tools."""
        self.advisor_notes: Callable[[bool], Sequence[str]] = lambda _: ()
        """Returns notes about the advisor before a prompt; the argument is True for an opening."""
        self._on_learned: Callable[[], None] = lambda: None

    async def set_model(self, model: str) -> None:
        """Use another model from the next request on.

        Raises:
            SwitchRefused: its provider cannot be used, for example without a key.
        """
        new_model = expand_alias(model)
        problem = self._client.problem(new_model)
        if problem is not None:
            raise SwitchRefused(problem)
        self.model = new_model
        self.capabilities = self._apply_limits(self._client.known_capabilities(self.model))
        await self.learn_capabilities()

    def left_out(self, messages: Sequence[Message]) -> str:
        """Return a sentence about parts of a history that the model cannot read, or ""."""
        return self._client.left_out(messages, self.model)

    def set_effort(self, effort: Effort | None) -> None:
        """Use another effort from the next request on; None means the model's default."""
        self.effort = effort
        self._on_effort(effort)

    @property
    def takes_system_messages(self) -> bool:
        """Whether the model accepts system messages within the conversation."""
        return self.capabilities.mid_conversation_system

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        return self.capabilities.can_think

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers: as chosen, if it supports both."""
        can = self.capabilities
        return can.can_think and (self._wants_thinking or not can.can_disable_thinking)

    @property
    def max_output_tokens(self) -> int:
        """Longest answer of the model, in tokens."""
        return self.capabilities.max_output_tokens

    def holds_calls(self, model: str) -> bool:
        """Whether a model's endpoint enforces tool schemas on calls, as far as is known."""
        can = self.capabilities if model == self.model else self._client.known_capabilities(model)
        is_official = self._client.endpoint.is_official and self._client.is_main(model)
        # At the vendor's endpoint, models of the table that can think support it.
        return can.structured_outputs or (is_official and can.source == "table" and can.can_think)

    def set_thinking(self, is_on: bool) -> bool:
        """Switch thinking on or off from the next prompt on.

        Returns False, without change, if the model does not support this.
        """
        previous, self._wants_thinking = self._wants_thinking, is_on
        if self.thinks is is_on:
            return True
        self._wants_thinking = previous
        return False

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store a context window and an output limit that an error of the endpoint named."""
        self._client.learn_limits(model, window, output)
        known_limits = self.limits.get(model, (0, 0))
        self.limits[model] = (window or known_limits[0], output or known_limits[1])
        if model == self.model:
            self.capabilities = self._client.known_capabilities(model)
            self.totals.context_window = self.capabilities.context_window

    async def learn_capabilities(self) -> None:
        """Ask the endpoint for the model's capabilities; until then those of the table are used."""
        model = self.model
        capabilities = await self._client.capabilities(model)
        if model == self.model:
            self.capabilities = self._apply_limits(capabilities)
            self.totals.context_window = self.capabilities.context_window
            self._on_learned()

    def follow(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever the endpoint has reported the model's capabilities."""
        self._on_learned = listener

    def _apply_limits(self, can: ModelCapabilities) -> ModelCapabilities:
        """Return the model's capabilities with limits that errors named, even in earlier runs."""
        window, output = self.limits.get(self.model, (0, 0))
        override = self._client.override(self.model)
        if can.source in ("endpoint", "server") or override.context_window is not None:
            # A server may have been restarted with a larger window.
            window = 0
        if override.max_output_tokens is not None:
            # Limits from errors of this run are already in the client's figures.
            output = 0
        return replace(
            can,
            context_window=min(window or can.context_window, can.context_window),
            max_output_tokens=min(output or can.max_output_tokens, can.max_output_tokens),
        )


if TYPE_CHECKING:

    def _check_protocol(model_in_use: ModelInUse) -> ModelChoice:
        return model_in_use
