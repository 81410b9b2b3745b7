"""Chooses the model: from flags, environment variables and settings, or the embedded demo."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from agent.assembly.assemble import Environment
from agent.assembly.model_setup import provider_settings
from agent.errors import ConfigError
from agent.model.client import ModelError
from agent.model.endpoint import ModelSettings, ModelSetup, Unconfigured, resolve_model
from agent.model.key_helper import read_helper_key
from agent.model.providers.known_providers import KNOWN_PROVIDERS
from agent.options import RunOptions
from agent.settings.load import Settings
from permissions.base.text.failure_text import error_reason
from permissions.rule import RuleSource

Closer = Callable[[], Awaitable[None]]


class NotConfigured(ConfigError):
    """No usable model is configured; the text explains how to connect one, or try the demo."""

    def __init__(self, reason: str, *, is_untouched: bool = False) -> None:
        """Store the reason as `obstacle`; it is "" if nothing has been configured yet."""
        super().__init__(f"{reason} To try agent-tui without one: agent-tui --demo")
        self.obstacle = "" if is_untouched else reason


async def real_model(
    settings: Settings, environment: Environment, options: RunOptions
) -> ModelSetup:
    """Return the setup of the configured model.

    Raises:
        NotConfigured: no usable model is configured.
    """
    values = settings.values
    fallback = values.fallbackModel or ()
    # A project's variables must not decide who gets the conversation and the user's keys.
    env = {**settings.own_env, **environment.env}
    helper_key = None
    if values.apiKeyHelper and not (
        env.get("ANTHROPIC_API_KEY") or env.get("ANTHROPIC_AUTH_TOKEN")
    ):
        try:
            helper_key = await read_helper_key(values.apiKeyHelper, env=env)
        except ModelError as error:
            raise NotConfigured(str(error)) from error
    resolution = resolve_model(
        env=env,
        settings=ModelSettings(
            base_url=values.baseUrl,
            model=_settings_model(settings),
            small_model=values.smallFastModel,
            fallback_models=options.fallback_models
            or ((fallback,) if isinstance(fallback, str) else tuple(fallback)),
            providers=provider_settings(values),
        ),
        flag_model=_flag_model(settings, options),
        helper_key=helper_key,
    )
    if isinstance(resolution, Unconfigured):
        raise NotConfigured(resolution.reason, is_untouched=resolution.is_untouched)
    return resolution


def _settings_model(settings: Settings) -> str | None:
    """Return the model of the settings. A project may choose a provider only if the user's settings
    contain it, because the whole project would be sent there; otherwise None."""
    model = settings.values.model
    origin = settings.effective.origins.get("model")
    if model is None or origin is None or "/" not in model:
        return model
    is_projects = origin.source in (RuleSource.PROJECT, RuleSource.LOCAL)
    head = model.partition("/")[0]
    provider_names = {each.name for each in KNOWN_PROVIDERS} - set(settings.values.providers or {})
    return None if is_projects and head in provider_names else model


def _flag_model(settings: Settings, options: RunOptions) -> str | None:
    """Return `--model`, unless a policy sets the model."""
    origin = settings.effective.origins.get("model")
    if origin is not None and origin.source is RuleSource.POLICY:
        return settings.values.model
    return options.model


async def demo_model(environment: Environment) -> tuple[ModelSetup, Environment, Closer]:
    """Start the demo in a scratch copy of its sample project.

    Returns the setup, an environment whose launch directory is the copy, and a function that ends
    the demo.

    Raises:
        ConfigError: the copy could not be created or the server not started.
    """
    from agent.headless.demo import (  # the scripted model, only for the demo
        demo_project,
        start_demo,
    )

    try:
        directory, project = await asyncio.to_thread(demo_project)
        demo = await start_demo(directory, project)
    except OSError as error:
        raise ConfigError(f"The demo could not start: {error_reason(error)}") from error
    # Its sessions and settings are in the scratch directory, so the user's stay unchanged.
    copy = replace(environment, launch_dir=project, agent_home=directory.path / "agent-home")
    return demo.setup, copy, demo.aclose


async def close_all(closers: Sequence[Closer]) -> None:
    """Call the closers in reverse order."""
    for close in reversed(closers):
        await close()
