"""The server, key and model to use, resolved from flags, environment and settings.

Project settings never change them: the caller passes user and policy settings and the
environment of the process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agent.model.endpoint_config import NO_KEY, OFFICIAL_URL, Endpoint
from agent.model.providers.provider_setup import (
    Providers,
    ProviderSettings,
    configured_providers,
    is_address,
)

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
DEFAULT_SMALL_MODEL: Final = "claude-haiku-5-5"
_NOTHING_CONFIGURED: Final = (
    "No model is configured. Set ANTHROPIC_API_KEY, set ANTHROPIC_BASE_URL to a server that "
    "supports the Messages API (Ollama, llama.cpp, vLLM, LM Studio, LiteLLM), or name a model of "
    "another provider, such as --model openai/NAME with OPENAI_API_KEY."
)

_LARGE_WINDOW: Final = "[1m]"
ALIASES: Final[Mapping[str, str]] = {
    "default": DEFAULT_MODEL,
    "fable": "claude-fable-5-2",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}


class ModelSettings(Struct, frozen=True):
    """The settings about models; project settings can set only the names of models."""

    base_url: str | None = None
    """User or policy settings alone."""
    model: str | None = None
    small_model: str | None = None
    fallback_models: tuple[str, ...] = ()
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    """User or policy settings alone."""


class ModelSetup(Struct, frozen=True):
    """Everything needed to talk to a model."""

    endpoint: Endpoint
    model: str | None
    """None: no model was named for a server other than the vendor's; ask it for its list."""
    small_model: str | None
    """For titles, hooks and similar tasks; None: the same as `model`."""
    fallback_models: tuple[str, ...] = ()
    origin: str = ""
    """Where the credentials came from, for `/status`: a variable's name, never its value."""
    warnings: tuple[str, ...] = ()
    providers: Providers = Providers()
    env: Mapping[str, str] = field(default_factory=dict)
    """Contains the providers' keys."""

    @property
    def address(self) -> str:
        """The address for the model's requests; the provider's name if only its client knows it."""
        provider = self.providers.split(self.model) if self.model else None
        if provider is None:
            return self.endpoint.base_url
        return provider[0].base_url or provider[0].name

    def __repr__(self) -> str:
        """Omit the environment, which contains keys."""
        return f"ModelSetup(endpoint={self.endpoint!r}, model={self.model!r})"


class Unconfigured(Struct, frozen=True):
    """No model can be used yet; `reason` tells the user what is missing and what to do."""

    reason: str
    is_untouched: bool = False
    """Nothing is configured at all: a first start rather than an error."""


def resolve_model(
    *,
    env: Mapping[str, str],
    settings: ModelSettings | None = None,
    flag_model: str | None = None,
    helper_key: str | None = None,
) -> ModelSetup | Unconfigured:
    """Return the setup that results from flags, environment and settings.

    Precedence for the model: `--model`, `ANTHROPIC_MODEL`, settings, the default. For the key:
    `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN`, `helper_key`.
    """
    settings = settings or ModelSettings()
    warnings: list[str] = []
    address = _value(env, "ANTHROPIC_BASE_URL") or settings.base_url or OFFICIAL_URL
    base_url = _normalize(address)
    if base_url is None:
        return Unconfigured(
            f"ANTHROPIC_BASE_URL is not a web address: {address!r}. "
            "It looks like http://localhost:11434 or https://gateway.example.com."
        )
    api_key, auth_token, origin = _credentials(env, helper_key)
    key_name = "The key that apiKeyHelper printed" if origin == "apiKeyHelper" else origin
    for name, value in ((key_name, api_key), ("ANTHROPIC_AUTH_TOKEN", auth_token)):
        if value and not _may_be_header(value):
            return Unconfigured(
                f"{name} contains characters that no key can have, such as a line break."
            )
    endpoint = Endpoint(
        base_url=base_url,
        api_key=api_key,
        auth_token=None if api_key else auth_token,
        headers=_custom_headers(env, warnings),
    )
    if origin == "apiKeyHelper":
        endpoint = replace(endpoint, key_source="the command of the apiKeyHelper setting")
    providers = configured_providers(
        settings.providers, env, behind_gateway=not endpoint.is_official
    )
    model = flag_model or _value(env, "ANTHROPIC_MODEL") or settings.model
    if model and (reason := providers.unfinished_reason(model)) is not None:
        return Unconfigured(reason)
    provider = providers.split(model) if model else None
    if provider is not None:
        origin = provider[0].names.key if provider[0].needs_key else "no key needed"
    elif not origin:
        if endpoint.is_official:
            unknown = providers.unknown(model) if model else None
            if reason := unknown or _other_key_message(env, providers):
                return Unconfigured(reason)
            return Unconfigured(_NOTHING_CONFIGURED, is_untouched=True)
        endpoint = Endpoint(base_url, auth_token=NO_KEY, headers=endpoint.headers)
        origin = "no key needed"
    small = _value(env, "ANTHROPIC_SMALL_FAST_MODEL") or settings.small_model
    return ModelSetup(
        endpoint=endpoint,
        model=_full_name(endpoint, model, DEFAULT_MODEL),
        small_model=_full_name(endpoint, small, DEFAULT_SMALL_MODEL),
        fallback_models=tuple(expand_alias(each) for each in settings.fallback_models),
        origin=origin,
        warnings=(*warnings, *providers.warnings),
        providers=providers,
        env=env,
    )


def _other_key_message(env: Mapping[str, str], providers: Providers) -> str | None:
    """Return a message about a key of another provider, or None if none is set."""
    for each in providers.by_name.values():
        key = next((name for name in each.key_variables if _value(env, name)), None)
        if key is not None:
            return (
                f"No model is chosen. {key} is set: name a model with --model {each.name}/NAME, "
                'or as "model" in your settings.'
            )
    return None


def _credentials(
    env: Mapping[str, str], helper_key: str | None
) -> tuple[str | None, str | None, str]:
    """Return key, token, and the name of the source of the one in use; "" if there is none."""
    api_key = _value(env, "ANTHROPIC_API_KEY")
    auth_token = _value(env, "ANTHROPIC_AUTH_TOKEN")
    if api_key:
        return api_key, auth_token, "ANTHROPIC_API_KEY"
    if auth_token:
        return api_key, auth_token, "ANTHROPIC_AUTH_TOKEN"
    return (helper_key, None, "apiKeyHelper") if helper_key else (None, None, "")


def _full_name(endpoint: Endpoint, name: str | None, default: str) -> str | None:
    """Return the model's full name; only the vendor's own endpoint has a default."""
    chosen = name or (default if endpoint.is_official else None)
    return expand_alias(chosen) if chosen else None


def expand_alias(model: str) -> str:
    """Return the model id for an alias; any other name is only stripped.

    Claude Code's ending `[1m]` for a large window is left out: no endpoint knows such an id, and
    models that have that window have it without being asked.
    """
    name = model.strip()
    if name.lower().endswith(_LARGE_WINDOW):
        name = name[: -len(_LARGE_WINDOW)].strip()
    return ALIASES.get(name.lower(), name)


def _value(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None


def _normalize(url: str) -> str | None:
    """Return the address without a trailing slash or `/v1`; None if it is not an address."""
    url = url.strip()
    if re.fullmatch(r"(localhost|[\d.]+|\[[0-9a-f:]+\])(:\d+)?(/\S*)?", url, re.IGNORECASE):
        url = f"http://{url}"
    if not is_address(url):
        return None
    # The client adds /v1 itself, but many guides tell users to include it.
    return re.sub(r"(/v1)?/*$", "", url)


def _custom_headers(env: Mapping[str, str], warnings: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in env.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if colon and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
            headers[name.strip()] = value.strip()
        else:
            # The line itself is not quoted, as it may contain a secret.
            warnings.append("A line of ANTHROPIC_CUSTOM_HEADERS is not of the form `name: value`.")
    return headers


def _may_be_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and " " not in value
