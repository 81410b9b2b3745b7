"""Selects an agent's model: one that the caller made, or one of the program's by name."""

from __future__ import annotations

from agent.errors import UsageError
from agent.library.agents.agent_definition import Agent
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.models.endpoint_model import EndpointModel
from agent.library.models.model_interface import Model, ModelProvider
from agent.library.program.program_setup import (
    ProgramSetup,
    choose_model,
    open_client,
    read_setup,
)
from agent.model.providers.router import ModelRouter


class StandardModels:
    """Finds models for one run, and closes the connections that it opened."""

    def __init__(self, model: RawItem, provider: ModelProvider | None) -> None:
        """Open nothing yet; `model` overrides the models of all agents."""
        self._model = model
        self._provider = provider
        self._setup: ProgramSetup | None = None
        self._clients: list[ModelRouter] = []
        self._models: dict[str | None, Model] = {}

    def model_of(self, agent: Agent) -> Model:
        """Return the run's model, else the agent's, else the program's.

        Raises:
            UserError: no model of that name is available.
        """
        choice: RawItem = self._model or agent.model
        if choice is not None and not isinstance(choice, str):
            model: Model = choice
            return model
        if self._provider is not None:
            return self._provider.get_model(choice)
        if choice not in self._models:
            self._models[choice] = self._open(choice)
        return self._models[choice]

    def _open(self, name: str | None) -> Model:
        self._setup = self._setup or read_setup()
        try:
            chosen = choose_model(self._setup, name)
        except UsageError as error:
            raise UserError(str(error)) from error
        if chosen.model is None:
            raise UserError("No model is named: set Agent.model, or ANTHROPIC_MODEL.")
        client = open_client(self._setup, chosen)
        self._clients.append(client)
        return EndpointModel(client, chosen.model, chosen.address)

    async def aclose(self) -> None:
        """Close the connections of this run."""
        for client in self._clients:
            await client.aclose()
        if self._provider is not None:
            await self._provider.aclose()
