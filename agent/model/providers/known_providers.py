"""The providers that are built in and need no setting. As of November 2026."""

from __future__ import annotations

from typing import Final

from agent.model.dialects.provider import Habits, Provider
from agent.model.endpoint_config import OFFICIAL_URL


def _chat(name: str, base_url: str, key: str, habits: Habits = Habits()) -> Provider:  # noqa: B008
    return Provider(
        name=name, speaks="chat", base_url=base_url, key_variables=(key,), habits=habits
    )


def _local(name: str, port: int) -> Provider:
    # Their models were trained on traces that include the current task's reasoning.
    return Provider(
        name=name,
        speaks="chat",
        base_url=f"http://localhost:{port}/v1",
        needs_key=False,
        habits=Habits(reasoning_back="calls"),
    )


KNOWN_PROVIDERS: Final[tuple[Provider, ...]] = (
    Provider(
        name="anthropic",
        speaks="messages",
        base_url=OFFICIAL_URL,
        key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        small_model="claude-haiku-5-5",
    ),
    Provider(
        name="openai",
        speaks="responses",
        base_url="https://api.openai.com/v1",
        address_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        habits=Habits(max_completion_tokens=True),
    ),
    Provider(
        name="gemini",
        speaks="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        address_variable="GOOGLE_GEMINI_BASE_URL",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
    _chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        Habits(reasoning_back="always", reasoning_details=True),
    ),
    _chat("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", Habits(short_call_ids=True)),
    _chat(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        Habits(reasoning_back="calls"),
    ),
    _chat(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        Habits(max_completion_tokens=True),
    ),
    _chat("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    _local("ollama", 11434),
    _local("lmstudio", 1234),
    _local("llamacpp", 8080),
    _local("vllm", 8000),
    Provider(name="bedrock", speaks="bedrock"),
    Provider(name="vertex", speaks="vertex"),
    Provider(name="foundry", speaks="foundry", key_variables=("ANTHROPIC_FOUNDRY_API_KEY",)),
)
