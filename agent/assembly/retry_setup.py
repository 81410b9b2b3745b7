"""Wires how failed requests are retried, and how a key that was refused is read anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from agent.model.anthropic import AnthropicClient
from agent.model.endpoint import ModelSetup
from agent.model.key_helper import KeyRefresh
from agent.recovery.retry import RequestSource, RetryPolicy, policy_for
from agent.settings.load import Settings


def retry_policies(
    settings: Callable[[], Settings], env: Mapping[str, str]
) -> Callable[[RequestSource], RetryPolicy]:
    """Return how requests are retried; for hours where nobody waits (error-recovery)."""

    def policy(source: RequestSource) -> RetryPolicy:
        asked = env.get("AGENT_TUI_PERSISTENT_RETRY", "") not in {"", "0"}
        return policy_for(source, persistent=asked or settings().values.persistentRetry is True)

    return policy


def key_refresh(
    client: AnthropicClient, setup: ModelSetup, settings: Settings, env: Mapping[str, str]
) -> Callable[[], Awaitable[bool]] | None:
    """Return what reads the key anew; None where it would be the same one again."""
    command = settings.values.apiKeyHelper
    if not command or setup.origin != "apiKeyHelper":
        return None
    return KeyRefresh(client, command, {**settings.env, **env})
