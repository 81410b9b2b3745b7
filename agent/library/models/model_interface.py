"""What a model has to do to be one; `agent.library.models.seam_model` is ours."""

from __future__ import annotations

import abc
from collections.abc import AsyncIterator
from enum import Enum

from agent.library.agents.agent_output import AgentOutputSchemaBase
from agent.library.base.model_options import ModelOptions
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.items.run_items import ModelResponse


class ModelTracing(Enum):
    """What of a call may go into traces."""

    DISABLED = 0
    ENABLED = 1
    ENABLED_WITHOUT_DATA = 2

    def is_disabled(self) -> bool:
        """Whether there is no trace at all."""
        return self is ModelTracing.DISABLED

    def include_data(self) -> bool:
        """Whether inputs and outputs may be in it."""
        return self is ModelTracing.ENABLED


class Model(abc.ABC):
    """A model; derive from it to run agents on one of your own."""

    async def close(self) -> None:
        """Let go of connections."""
        return

    def get_retry_advice(self, request: RawItem) -> RawItem:
        """Return what is known of whether a failed call may be sent again; None for nothing."""
        return None

    @abc.abstractmethod
    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[InputItem],
        model_settings: ModelOptions,
        tools: list[RawItem],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[RawItem],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: RawItem,
    ) -> ModelResponse:
        """Return one answer."""

    @abc.abstractmethod
    def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[InputItem],
        model_settings: ModelOptions,
        tools: list[RawItem],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[RawItem],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: RawItem,
    ) -> AsyncIterator[RawItem]:
        """Yield one answer as events of the Responses API, `response.completed` last."""


class ModelProvider(abc.ABC):
    """Finds models by name."""

    @abc.abstractmethod
    def get_model(self, model_name: str | None) -> Model:
        """Return a model; None is the default one."""

    async def aclose(self) -> None:
        """Let go of what the models share."""
        return
