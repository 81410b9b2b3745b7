"""The program's settings and models, for use by the library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agent.assembly.environment import Environment, environment_from, settings_for
from agent.assembly.model_setup import model_client, provider_settings
from agent.errors import UsageError
from agent.model.endpoint import ModelSettings, ModelSetup, Unconfigured, resolve_model
from agent.model.providers.router import ModelRouter
from agent.options import RunOptions
from agent.settings.load import Settings


class ProgramSetup(Struct, frozen=True):
    """Settings and environment of a directory."""

    environment: Environment
    settings: Settings


def read_setup(
    directory: Path | None = None,
    env: Mapping[str, str] | None = None,
    options: RunOptions | None = None,
) -> ProgramSetup:
    """Read the settings that apply in a directory; a project's only if it is trusted.

    Raises:
        ConfigError: a required settings file is invalid.
    """
    values = os.environ if env is None else env
    environment = environment_from(values, (directory or Path.cwd()).absolute(), version="")
    settings = settings_for(options or RunOptions(headless=True), environment)
    return ProgramSetup(environment, settings)


def choose_model(setup: ProgramSetup, name: str | None) -> ModelSetup:
    """Return the setup of a model; `name` None means the program's default model.

    Raises:
        UsageError: no model is configured.
    """
    values = setup.settings.values
    model = resolve_model(
        env={**setup.settings.own_env, **setup.environment.env},
        settings=ModelSettings(
            base_url=values.baseUrl,
            model=values.model,
            small_model=values.smallFastModel,
            providers=provider_settings(values),
        ),
        flag_model=name,
    )
    if isinstance(model, Unconfigured):
        raise UsageError(model.reason)
    return model


def open_client(setup: ProgramSetup, model: ModelSetup) -> ModelRouter:
    """Return a client; it opens connections with its first request."""
    return model_client(model, setup.settings)
