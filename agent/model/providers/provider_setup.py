"""The available providers: the built-in ones, changed and extended by the user's settings.

Project settings never change them: the caller passes only user and policy settings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, get_args
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from agent.model.dialects.provider import Cloud, Habits, Provider, ReasoningBack
from agent.model.endpoint_config import Dialect
from agent.model.providers.known_providers import KNOWN_PROVIDERS


class ProviderSettings(Struct, frozen=True, kw_only=True):
    """One entry of the `providers` setting; None keeps the built-in value."""

    api: Dialect | Cloud | None = None
    base_url: str | None = None
    key_variable: str | None = None
    key_helper: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    models: Sequence[str] = ()
    small_model: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    reasoning_back: ReasoningBack | None = None


class Providers(Struct, frozen=True):
    """The available providers, and warnings about unusable settings."""

    by_name: Mapping[str, Provider] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    scope: Literal["all", "configured"] = "all"
    """`configured`: a gateway is used, whose own model names look like `openai/x`, so only
    providers that settings name count as a prefix."""

    def split(self, model: str) -> tuple[Provider, str] | None:
        """Split `provider/model` into provider and model name; None for a main endpoint's model."""
        name, slash, rest = model.strip().partition("/")
        provider = self.by_name.get(name)
        if not slash or not rest or provider is None:
            return None
        if self.scope == "configured" and not provider.is_configured:
            return None
        return provider, rest

    def unfinished_reason(self, model: str) -> str | None:
        """Return an error message if a name has a provider and no model; None for other names."""
        head, slash, rest = model.strip().partition("/")
        if not slash or rest.strip():
            return None
        return f"{model.strip()} names a provider and no model: write {head or 'PROVIDER'}/NAME."

    def unknown(self, model: str) -> str | None:
        """Return the error message for a name's unknown provider; None for a name without one."""
        head, slash, _ = model.partition("/")
        if not slash:
            return None
        names = ", ".join(self.by_name)
        return (
            f"There is no provider {head}. Known: {names}; "
            "define others in the setting `providers`."
        )


def configured_providers(
    settings: Mapping[str, ProviderSettings],
    env: Mapping[str, str],
    *,
    behind_gateway: bool = False,
) -> Providers:
    """Return the built-in providers with settings and environment applied."""
    by_name = {each.name: _resolve_address(each, env) for each in KNOWN_PROVIDERS}
    warnings: list[str] = []
    for name, section in settings.items():
        problem = _problem(name, section, by_name.get(name))
        if problem is not None:
            warnings.append(f"providers.{name}: {problem}")
            continue
        by_name[name] = _merge_provider(name, section, by_name.get(name))
    scope: Literal["all", "configured"] = "configured" if behind_gateway else "all"
    return Providers(by_name, tuple(warnings), scope)


def _resolve_address(provider: Provider, env: Mapping[str, str]) -> Provider:
    address = env.get(provider.address_variable, "").strip() if provider.address_variable else ""
    if address and is_address(address):
        return replace(provider, base_url=_with_version(address, provider.speaks))
    return provider


def _problem(name: str, section: ProviderSettings, builtin: Provider | None) -> str | None:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        return "a provider's name has small letters, digits, dots and hyphens."
    speaks = section.api or (builtin.speaks if builtin is not None else "chat")
    if section.base_url is not None and not is_address(section.base_url):
        return f"baseUrl is not a web address: {section.base_url!r}."
    if section.base_url is None and builtin is None and speaks not in get_args(Cloud):
        return "it needs a baseUrl, such as http://localhost:8000/v1."
    if speaks in ("bedrock", "vertex") and (section.key_variable or section.key_helper):
        return f"{speaks} signs with the cloud's own credentials: it takes no key."
    for header, value in section.headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", header) or not value.isprintable():
            return f"{header!r} is not a header that can be sent."
    return None


def _merge_provider(name: str, section: ProviderSettings, builtin: Provider | None) -> Provider:
    """Return the built-in provider of that name, or a new one, with the settings applied."""
    base = builtin or Provider(
        name=name, speaks="chat", needs_key=bool(section.key_variable or section.key_helper)
    )
    speaks = section.api or base.speaks
    habits = base.habits if builtin is not None else Habits(reasoning_back="calls")
    return replace(
        base,
        speaks=speaks,
        base_url=_with_version(section.base_url, speaks) if section.base_url else base.base_url,
        key_variables=(section.key_variable,) if section.key_variable else base.key_variables,
        key_helper=section.key_helper or base.key_helper,
        headers={**base.headers, **section.headers},
        models=tuple(section.models) or base.models,
        small_model=section.small_model or base.small_model,
        options={**base.options, **section.options},
        habits=replace(habits, reasoning_back=section.reasoning_back or habits.reasoning_back),
        is_configured=True,
    )


def is_address(url: str) -> bool:
    """Return whether `url` is an HTTP(S) URL that requests can be sent to."""
    try:
        parts = urlsplit(url.strip())
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = url.strip().isascii() and url.strip().isprintable() and " " not in url.strip()
    has_host = parts.scheme in ("http", "https") and bool(parts.hostname)
    return has_host and port_is_fine and plain and not parts.query and not parts.fragment


def _with_version(url: str, speaks: str) -> str:
    """Return the address with or without the version, as the dialect needs it."""
    url = url.strip().rstrip("/")
    if speaks in ("messages", *get_args(Cloud)):
        return re.sub(r"/v1$", "", url)
    if urlsplit(url).path:
        return url
    return f"{url}/v1beta" if speaks == "gemini" else f"{url}/v1"
