"""Settings of a model call, such as temperature and tool choice, all optional."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import UserError


@dataclass
class ModelOptions:
    """Exported as `ModelSettings`; None leaves a field to the model."""

    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    tool_choice: RawItem = None
    """`auto`, `required`, `none`, or the name of a tool."""
    parallel_tool_calls: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    max_tokens: int | None = None
    reasoning: RawItem = None
    """An object or dict with `effort`."""
    verbosity: Literal["low", "medium", "high"] | None = None
    metadata: dict[str, str] | None = None
    store: bool | None = None
    prompt_cache_retention: str | None = None
    include_usage: bool | None = None
    response_include: list[str] | None = None
    top_logprobs: int | None = None
    extra_query: RawItem = None
    extra_body: RawItem = None
    extra_headers: RawItem = None
    extra_args: dict[str, RawItem] | None = None
    retry: RawItem = None
    context_management: list[RawItem] | None = None
    prompt_cache_options: RawItem = None
    preserve_raw_usage: bool | None = None
    timeout: float | None = None
    """Time limit for one model call, in seconds."""

    def resolve(self, override: ModelOptions | Mapping[str, RawItem] | None) -> ModelOptions:
        """Return these settings with those of `override` that are set; `extra_args` are merged."""
        if override is None:
            return self
        options = model_options(override)
        changes = {
            each.name: value
            for each in fields(options)
            if (value := getattr(options, each.name)) is not None
        }
        if self.extra_args is not None or options.extra_args is not None:
            changes["extra_args"] = {**(self.extra_args or {}), **(options.extra_args or {})}
        return dataclasses.replace(self, **changes)

    def to_json_dict(self) -> dict[str, RawItem]:
        """Return all fields by name."""
        return dataclasses.asdict(self)


def model_options(value: ModelOptions | Mapping[str, RawItem]) -> ModelOptions:
    """Return settings that may have been given as a dict.

    Raises:
        UserError: the dict has a name that is not a setting.
    """
    if isinstance(value, ModelOptions):
        return value
    names = {each.name for each in fields(ModelOptions)}
    unknown = sorted(set(value) - names)
    if unknown:
        raise UserError(f"Unknown model settings: {', '.join(unknown)}")
    return ModelOptions(**value)
