"""A provider of models, as a value: its address, dialect, key variables and deviations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct, field

from agent.model.client import EndpointNames
from agent.model.endpoint_config import Dialect, is_loopback

Cloud = Literal["bedrock", "vertex", "foundry"]
"""Clouds that serve Claude, each with credentials of its own."""

ReasoningBack = Literal["never", "calls", "always"]
"""The earlier answers whose reasoning is sent back: none, those that call tools, or all."""


class Habits(Struct, frozen=True):
    """How a server of Chat Completions differs from others."""

    reasoning_back: ReasoningBack = "never"
    short_call_ids: bool = False
    """Ids of calls have exactly nine letters and digits."""
    max_completion_tokens: bool = False
    """The output limit has its newer name, `max_completion_tokens`."""
    reasoning_details: bool = False
    """Reasoning is received, and sent back, as `reasoning_details`."""


class Provider(Struct, frozen=True, kw_only=True):
    """One provider, as built in or as settings describe it."""

    name: str
    speaks: Dialect | Cloud
    base_url: str = ""
    """With its version, such as `/v1`; empty if a cloud's client knows the address."""
    address_variable: str = ""
    """Variable that replaces `base_url`; empty for none."""
    key_variables: tuple[str, ...] = ()
    """The first that is set is used."""
    key_helper: str | None = None
    """Command that prints the key; used if no variable is set."""
    needs_key: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    """Models that the user named, for endpoints that list none."""
    small_model: str | None = None
    """For titles, hooks and similar tasks; None: the model in use."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of a cloud: region, project, resource."""
    habits: Habits = Habits()
    is_configured: bool = False
    """Whether the user's settings name it."""

    @property
    def cloud(self) -> Cloud | None:
        """The cloud; None for a server that speaks a dialect."""
        return next((each for each in get_args(Cloud) if each == self.speaks), None)

    @property
    def dialect(self) -> Dialect:
        """The API that it speaks; clouds serve Claude by the Messages API."""
        return next((each for each in get_args(Dialect) if each == self.speaks), "messages")

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine."""
        return bool(self.base_url) and is_loopback(self.base_url)

    @property
    def names(self) -> EndpointNames:
        """Return the names of the variables and settings that configure it."""
        section = f"providers.{self.name}"
        key = " or ".join(self.key_variables) or f"{section}.keyVariable"
        if self.cloud is not None:
            key = f"{section}.options or the variables of its cloud"
        elif self.key_helper:
            key = f"the command of {section}.keyHelper"
        api = {
            "responses": "Responses API",
            "chat": "Chat Completions API",
            "gemini": "Gemini API",
        }.get(self.dialect, "Messages API")
        return EndpointNames(key=key, address=f"{section}.baseUrl", api=api)
