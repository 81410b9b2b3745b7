"""The interface of models; `agent.library.models.endpoint_model` implements it."""

from __future__ import annotations

import abc
from collections.abc import AsyncIterator
from enum import Enum

from agent.library.agents.agent_output import AgentOutputSchemaBase
from agent.library.base.model_options import ModelOptions
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.items.run_items import ModelResponse


class ModelTracing(Enum):
    """Which data of a call may be traced."""

    DISABLED = 0
    ENABLED = 1
    ENABLED_WITHOUT_DATA = 2

    def is_disabled(self) -> bool:
        """Whether the call is not traced at all."""
        return self is ModelTracing.DISABLED

    def include_data(self) -> bool:
        """Whether the trace may include inputs and outputs."""
        return self is ModelTracing.ENABLED


class Model(abc.ABC):
    """A model; derive from it to run agents on your own model."""

    async def close(self) -> None:
        """Close connections."""
        return

    def get_retry_advice(self, request: RawItem) -> RawItem:
        """Return advice on retrying a failed call; None if there is none."""
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
        """Return one response."""

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
        """Yield one response as events of the Responses API, `response.completed` last."""


class ModelProvider(abc.ABC):
    """Finds models by name."""

    @abc.abstractmethod
    def get_model(self, model_name: str | None) -> Model:
        """Return a model by name; None means the default model."""

    async def aclose(self) -> None:
        """Release resources that the models share."""
        return
