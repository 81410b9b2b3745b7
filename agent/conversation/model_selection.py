"""Which model and effort the next request asks for, and what that model can take."""

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
    """The endpoint has models, and no setting selects one."""

    def __init__(self, base_url: str, models: tuple[str, ...]) -> None:
        """Take the endpoint and the models it lists; none where it lists none."""
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
        client: lists the models where nothing else selects one.
        setup: the endpoint, and the model settings name.
        requested_model: as named on the command line.
        earlier_model: the model of the session that is continued.

    Raises:
        ModelNotNamed: nothing names one.
    """
    model = (requested_model and setup.model) or earlier_model or setup.model
    if model:
        return model
    models = await client.main.list_models()
    if len(models) == 1:
        return models[0]
    raise ModelNotNamed(setup.endpoint.base_url, models)


class ModelInUse:
    """The choice of one conversation; its user and its commands change it."""

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
        """`effort` None is the model's default; `on_effort` receives every change of it. `totals`
        and `limits` are those of a resumed session."""
        self._client = client
        self.model = model
        self.limits = dict(limits or {})
        """Window and longest answer that errors named, in tokens, by model; 0 for none."""
        self.effort = effort
        self._wants_thinking = wants_thinking
        self.capabilities: ModelCapabilities = self._apply_limits(client.known_capabilities(model))
        self.totals = totals if totals is not None else Totals()
        """Of the conversation: its window is the model's."""
        self.totals.context_window = self.capabilities.context_window
        self._on_effort = on_effort
        self.served_tools: Callable[[], Sequence[dict[str, object]]] = tuple
        """Which the endpoint runs itself."""
        self.advisor_tools: Callable[[], Sequence[dict[str, object]]] = tuple
        """By which the model consults another one; offered behind all other tools."""
        self.advisor_notes: Callable[[bool], Sequence[str]] = lambda _: ()
        """What it has to know of them before a prompt; True for an opening."""

    async def set_model(self, model: str) -> None:
        """Use another model from the next request on.

        Raises:
            SwitchRefused: its provider cannot be asked, as there is no key for it.
        """
        new_model = expand_alias(model)
        problem = self._client.problem(new_model)
        if problem is not None:
            raise SwitchRefused(problem)
        self.model = new_model
        self.capabilities = self._apply_limits(self._client.known_capabilities(self.model))
        await self.learn_capabilities()

    def left_out(self, messages: Sequence[Message]) -> str:
        """Return a sentence on what of a history the model cannot read; empty for nothing."""
        return self._client.left_out(messages, self.model)

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next request on; None is the model's default."""
        self.effort = effort
        self._on_effort(effort)

    @property
    def takes_system_messages(self) -> bool:
        """Whether the model takes messages of the system within the conversation."""
        return self.capabilities.mid_conversation_system

    @property
    def can_think(self) -> bool:
        """Whether the model can think before it answers."""
        return self.capabilities.can_think

    @property
    def thinks(self) -> bool:
        """Whether the model thinks before it answers: as asked, where it can do both."""
        can = self.capabilities
        return can.can_think and (self._wants_thinking or not can.can_disable_thinking)

    def holds_calls(self, model: str) -> bool:
        """Whether a model's endpoint holds calls to the schemas of their tools, as is known now."""
        can = self.capabilities if model == self.model else self._client.known_capabilities(model)
        is_official = self._client.endpoint.is_official and self._client.is_main(model)
        # Of the table's models those that think have it at the vendor's endpoint.
        return can.structured_outputs or (is_official and can.source == "table" and can.can_think)

    def set_thinking(self, is_on: bool) -> bool:
        """Have the model think, or not, from the next prompt on.

        Returns False, and leaves things as they are, where the model can do only the other.
        """
        previous, self._wants_thinking = self._wants_thinking, is_on
        if self.thinks is is_on:
            return True
        self._wants_thinking = previous
        return False

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Take over a window and a longest answer that an error of the endpoint named."""
        self._client.learn_limits(model, window, output)
        known_limits = self.limits.get(model, (0, 0))
        self.limits[model] = (window or known_limits[0], output or known_limits[1])
        if model == self.model:
            self.capabilities = self._client.known_capabilities(model)
            self.totals.context_window = self.capabilities.context_window

    async def learn_capabilities(self) -> None:
        """Ask the endpoint what the model can take; the table counts until it answers."""
        model = self.model
        capabilities = await self._client.capabilities(model)
        if model == self.model:
            self.capabilities = self._apply_limits(capabilities)
            self.totals.context_window = self.capabilities.context_window

    def _apply_limits(self, can: ModelCapabilities) -> ModelCapabilities:
        """Return capabilities of the model with the limits that errors named, also long ago."""
        window, output = self.limits.get(self.model, (0, 0))
        override = self._client.override(self.model)
        if can.source in ("endpoint", "server") or override.context_window is not None:
            # A server may have been started with a larger window since.
            window = 0
        if override.max_output_tokens is not None:
            # What an error of this run named, the client's figure holds already.
            output = 0
        return replace(
            can,
            context_window=min(window or can.context_window, can.context_window),
            max_output_tokens=min(output or can.max_output_tokens, can.max_output_tokens),
        )


if TYPE_CHECKING:

    def _proves(model_in_use: ModelInUse) -> ModelChoice:
        return model_in_use
