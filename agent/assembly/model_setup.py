"""Build the model client and what every request needs: model choice, retries, costs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from msgspec import Struct

from agent.assembly.cost_setup import CostParts, build_costs
from agent.assembly.start_context import StartContext
from agent.conversation.accounting import Accounting
from agent.conversation.model_selection import ModelInUse
from agent.loop.model_turn import Recovery
from agent.memory.estimate import total_tokens
from agent.model.anthropic import AnthropicClient
from agent.model.capabilities import Override
from agent.model.client import Effort
from agent.model.endpoint import ModelSetup, expand_alias
from agent.model.key_helper import KeyRefresh
from agent.model.providers.provider_setup import ProviderSettings
from agent.model.providers.router import ModelRouter
from agent.model.small_model import SmallModel
from agent.permission_config.rule_changes import RuleChanges
from agent.recovery.overflow import AnswerRoom
from agent.recovery.retry import MAX_RETRIES, RequestSource, RetryPolicy, policy_for
from agent.settings.load import Settings
from agent.settings.schema import SettingsFile
from hooks.ports import HookSession

SERVER_ANSWER_S: Final = 2.0
RETRIES_VARIABLE: Final = "CLAUDE_CODE_MAX_RETRIES"
PolicyFor = Callable[[RequestSource], RetryPolicy]


class ModelParts(Struct, frozen=True):
    """The model in use, and the parts that process its requests."""

    client: ModelRouter
    model_in_use: ModelInUse
    small: SmallModel
    costs: CostParts
    policy: PolicyFor
    recovery: Recovery
    small_name: Callable[[], str]
    """Returns the small model; the one in use if there is no other."""

    @property
    def has_small(self) -> bool:
        """Whether small questions go to a smaller model than the one in use."""
        return self.small_name() != self.model_in_use.model

    @property
    def accounting(self) -> Accounting:
        """Adds up what requests cost."""
        return self.costs.accounting

    def name(self) -> str:
        """Return the model of the next request."""
        return self.model_in_use.model

    def effort(self) -> Effort | None:
        """Return the effort of the next request."""
        return self.model_in_use.effort


async def build_model(
    start: StartContext, client: ModelRouter, hook_session: HookSession, rules: RuleChanges
) -> ModelParts:
    """Choose the model and build its parts. Raises ConfigError if no model is configured."""

    def on_effort(effort: Effort | None) -> None:
        hook_session.effort = effort

    setup, env = start.setup, start.environment.env
    model_in_use = await start.model_in_use(client, on_effort)
    if model_in_use.capabilities.source == "guess":
        # Tools and prompt depend on the window, so a self-hosted server is asked before they are
        # built, with a short timeout.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(model_in_use.learn_capabilities(), SERVER_ANSWER_S)
    costs = build_costs(start, model_in_use, on_exceeded=rules.exceed_budget)

    def small_name() -> str:
        return client.small_model(model_in_use.model, setup.small_model)

    small = SmallModel(
        client,
        small_name,
        account=costs.accounting.add_quietly,
    )
    policy = retry_policies(start.current_settings, env)
    recovery = Recovery(
        policy(RequestSource.MAIN),
        setup.endpoint.base_url,
        AnswerRoom(
            lambda request: total_tokens(request.messages),
            start.resumed_conversation.rooms if start.resumed_conversation else None,
        ),
        fallback_models=setup.fallback_models,
        refresh=key_refresh(client, setup, start.settings, env),
        learn_limits=model_in_use.learn_limits,
    )
    return ModelParts(client, model_in_use, small, costs, policy, recovery, small_name)


def model_client(setup: ModelSetup, settings: Settings) -> ModelRouter:
    """Return the client for the main endpoint and all providers; nothing is opened yet."""
    overrides = model_overrides(settings)
    main = AnthropicClient(setup.endpoint, overrides)
    return ModelRouter(main, setup.providers, env=setup.env, overrides=overrides)


def provider_settings(values: SettingsFile) -> dict[str, ProviderSettings]:
    """Return the providers that the settings configure, by name."""
    return {
        name: ProviderSettings(
            api=section.api,
            base_url=section.baseUrl,
            key_variable=section.keyVariable,
            key_helper=section.keyHelper,
            headers=section.headers or {},
            models=section.models or (),
            small_model=section.smallModel,
            options=section.options or {},
            reasoning_back=section.reasoningBack,
        )
        for name, section in (values.providers or {}).items()
    }


def model_overrides(settings: Settings) -> dict[str, Override]:
    """Return the capabilities that the settings override, by model."""
    sections = settings.values.modelCapabilities or {}
    return {
        expand_alias(name): Override(
            section.contextWindow, section.maxOutputTokens, section.thinking, section.promptCaching
        )
        for name, section in sections.items()
    }


def retry_policies(settings: Callable[[], Settings], env: Mapping[str, str]) -> PolicyFor:
    """Return the retry policies, with retries for hours if settings ask for it (error-recovery)."""

    max_retries = _max_retries(env)

    def policy(source: RequestSource) -> RetryPolicy:
        is_forced = env.get("AGENT_TUI_PERSISTENT_RETRY", "") not in {"", "0"}
        persistent = is_forced or settings().values.persistentRetry is True
        return policy_for(source, persistent=persistent, max_retries=max_retries)

    return policy


def _max_retries(env: Mapping[str, str]) -> int:
    """Return how often a request is sent again, as the user's environment sets it."""
    text = env.get(RETRIES_VARIABLE, "").strip()
    return int(text) if text.isascii() and text.isdecimal() else MAX_RETRIES


def key_refresh(
    client: ModelRouter, setup: ModelSetup, settings: Settings, env: Mapping[str, str]
) -> Callable[[], Awaitable[bool]] | None:
    """Return a function that reads the key again; None if the key cannot have changed."""
    command = settings.values.apiKeyHelper
    if not command or setup.origin != "apiKeyHelper":
        return None
    return KeyRefresh(client, command, {**settings.own_env, **env})
