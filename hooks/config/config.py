"""Merge the `hooks` sections of all origins: handlers add up, switches follow precedence.

Nothing in a section is fatal: a malformed entry is skipped with a warning and the rest applies.
Then read: `hooks/config/section.py` for one section, `hooks/config/lint.py` for what is accepted
but looks wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from hooks.config.section import ConfigWarning, parse_hooks
from hooks.config.spec import HandlerSpec, HookSource, PluginRoot

__all__ = ["ConfigWarning", "HookConfig", "HookLayer", "build_config", "parse_hooks"]


class HookLayer(Struct, frozen=True):
    """One file (or other origin) that may configure hooks, already parsed as JSON."""

    source: HookSource
    settings: Mapping[str, object]
    """The whole object: `hooks`, `disableAllHooks`, …"""
    file: str | None = None
    is_trusted: bool = True
    waiting: int = 0
    """Handlers of the file that were left out of `settings`, because they wait for trust."""
    plugin: PluginRoot | None = None
    owner: str | None = None


class HookConfig(Struct, frozen=True):
    """Every handler of a session by event, in configuration order, and the switches around them."""

    handlers: Mapping[str, tuple[HandlerSpec, ...]] = field(default_factory=dict)
    warnings: tuple[ConfigWarning, ...] = ()
    allowed_urls: tuple[str, ...] | None = None
    """Patterns for HTTP hooks; None: any, empty: none."""
    allowed_env_vars: frozenset[str] | None = None
    """Outer limit for variables in HTTP headers; None: no limit of its own."""
    closed_to: frozenset[HookSource] = frozenset()
    """Sources whose handlers a switch turned off, including handlers that are added later."""

    @property
    def switched_off(self) -> str:
        """The notice that a switch turned hooks off; empty when none did."""
        if not self.closed_to:
            return ""
        if HookSource.POLICY in self.closed_to:
            return "Managed settings turn off all hooks (disableAllHooks)."
        if HookSource.CODE in self.closed_to:
            return "All hooks except managed ones are turned off (disableAllHooks)."
        return "Managed settings allow no hooks but their own (allowManagedHooksOnly)."

    def all(self) -> tuple[HandlerSpec, ...]:
        """Return every handler in configuration order."""
        every = [spec for specs in self.handlers.values() for spec in specs]
        return tuple(sorted(every, key=lambda spec: spec.position))

    def with_specs(self, new_specs: Iterable[HandlerSpec]) -> HookConfig:
        """Return a configuration that also has these (skills, agents, callables)."""
        specs = list(self.all())
        for spec in new_specs:
            if spec.source not in self.closed_to:
                specs.append(replace(spec, position=len(specs)))
        return replace(self, handlers=_by_event(specs))

    def without_owner(self, owner: str) -> HookConfig:
        """Return a configuration without the handlers of one skill or agent."""
        return replace(self, handlers=_by_event([s for s in self.all() if s.owner != owner]))


SWITCH_ORDER: Final = (
    HookSource.POLICY,
    HookSource.CLI,
    HookSource.LOCAL,
    HookSource.PROJECT,
    HookSource.USER,
)
"""Precedence of sources for switches, highest first."""


def build_config(
    layers: Sequence[HookLayer], *, session_specs: Iterable[HandlerSpec] = ()
) -> HookConfig:
    """Merge layers in the order given: handlers add up, switches follow precedence.

    An untrusted layer contributes no handler, only a warning.
    """
    warnings: list[ConfigWarning] = []
    specs: list[HandlerSpec] = []
    fails_closed = _switch(layers, "hookFailureDefault", warnings) == "block"
    for layer in layers:
        layer_specs, problems = parse_hooks(
            layer.settings.get("hooks"),
            source=layer.source,
            file=layer.file,
            plugin=layer.plugin,
            owner=layer.owner,
            guards_fail_closed=fails_closed,
        )
        waiting = layer.waiting + (0 if layer.is_trusted else len(layer_specs))
        if waiting:
            verb = "hook does" if waiting == 1 else "hooks do"
            text = f"{waiting} {verb} nothing until this folder is trusted (or with --trust)"
            warnings.append(ConfigWarning(text, layer.source, layer.file))
        if layer_specs and not layer.is_trusted:
            continue
        warnings.extend(problems)
        specs.extend(layer_specs)
    specs.extend(session_specs)
    closed_to = _closed_to(layers, warnings)
    specs = [spec for spec in specs if spec.source not in closed_to]
    specs = [replace(spec, position=index) for index, spec in enumerate(specs)]
    return HookConfig(
        handlers=_by_event(specs),
        warnings=_each_once(warnings),
        allowed_urls=_merged_list(layers, "allowedHttpHookUrls"),
        allowed_env_vars=_as_set(_merged_list(layers, "httpHookAllowedEnvVars")),
        closed_to=closed_to,
    )


def _each_once(warnings: Sequence[ConfigWarning]) -> tuple[ConfigWarning, ...]:
    """Return each warning once per file, with the number of its places."""
    places: dict[tuple[str, HookSource, str | None], list[ConfigWarning]] = {}
    for warning in warnings:
        key = (warning.message, warning.source, warning.file)
        places.setdefault(key, []).append(warning)
    return tuple(
        first
        if not others
        else replace(first, message=f"{first.message} (and {len(others)} more like it)")
        for first, *others in places.values()
    )


def _by_event(specs: Sequence[HandlerSpec]) -> dict[str, tuple[HandlerSpec, ...]]:
    by_event: dict[str, list[HandlerSpec]] = {}
    for spec in specs:
        by_event.setdefault(spec.event, []).append(spec)
    return {event: tuple(event_specs) for event, event_specs in by_event.items()}


def _closed_to(layers: Sequence[HookLayer], warnings: list[ConfigWarning]) -> frozenset[HookSource]:
    """Return the sources that switches turn off; only managed settings turn off managed hooks."""
    everything = frozenset(HookSource)
    policy = [layer for layer in layers if layer.source is HookSource.POLICY]
    if _switch(policy, "disableAllHooks", warnings) is True:
        return everything
    if _switch(layers, "disableAllHooks", warnings) is True:
        return everything - {HookSource.POLICY}
    if _switch(policy, "allowManagedHooksOnly", warnings) is True:
        return everything - {HookSource.POLICY, HookSource.CODE}
    return frozenset()


def _switch(layers: Sequence[HookLayer], name: str, warnings: list[ConfigWarning]) -> object:
    for source in SWITCH_ORDER:
        for layer in reversed(layers):
            if layer.source is not source or name not in layer.settings:
                continue
            if not layer.is_trusted:
                continue
            value = layer.settings[name]
            if isinstance(value, bool | str):
                return value
            problem = ConfigWarning(
                f"`{name}` has an unusable value {value!r}; ignored", layer.source, layer.file
            )
            if problem not in warnings:
                warnings.append(problem)
    return None


def _merged_list(layers: Sequence[HookLayer], name: str) -> tuple[str, ...] | None:
    entries: list[str] = []
    present = False
    for layer in layers:
        value = layer.settings.get(name)
        if isinstance(value, list) and layer.is_trusted and layer.source.is_settings:
            present = True
            entries.extend(entry for entry in value if isinstance(entry, str))
    return tuple(dict.fromkeys(entries)) if present else None


def _as_set(values: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)
