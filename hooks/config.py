"""Read `hooks` sections into handler specifications: tolerant, every oddity reported once.

Nothing in a section is fatal: a malformed entry is skipped with a warning and the rest counts.
Then read: `hooks/match.py` for matchers, `hooks/lint.py` for what is accepted but looks wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hooks.effects import EFFECTS
from hooks.lint import lint_handler, lint_matcher
from hooks.read_fields import HANDLER_FIELDS, FieldError, read_handler
from hooks.spec import HandlerSpec, HookSource, PluginRoot, is_background

FAILURE_POLICIES: Final = {"block": True, "ignore": False, "continue": False, "allow": False}


@dataclass(frozen=True, slots=True)
class ConfigWarning:
    """One thing in a hooks section that does not do what it seems to."""

    message: str
    source: HookSource
    file: str | None = None
    where: str = ""
    """Path inside the section, such as `PreToolUse[0].hooks[1]`."""

    def __str__(self) -> str:
        """Return the line for people."""
        origin = self.file or self.source.value
        place = f": hooks.{self.where}" if self.where else ""
        return f"{origin}{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class HookLayer:
    """One file (or other origin) that may configure hooks, already parsed as JSON."""

    source: HookSource
    settings: Mapping[str, object]
    """The whole object: `hooks`, `disableAllHooks`, …"""
    file: str | None = None
    trusted: bool = True
    plugin: PluginRoot | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class HookConfig:
    """Every handler of a session by event, in configuration order, and the switches around them."""

    handlers: Mapping[str, tuple[HandlerSpec, ...]] = field(default_factory=dict)
    warnings: tuple[ConfigWarning, ...] = ()
    allowed_urls: tuple[str, ...] | None = None
    """Patterns for HTTP hooks; None: any, empty: none."""
    allowed_env_vars: frozenset[str] | None = None
    """Outer limit for variables in HTTP headers; None: no limit of its own."""
    closed_to: frozenset[HookSource] = frozenset()
    """Sources whose handlers a switch turned off, also those that come later."""

    def all(self) -> tuple[HandlerSpec, ...]:
        """Return every handler in configuration order."""
        found = [spec for specs in self.handlers.values() for spec in specs]
        return tuple(sorted(found, key=lambda spec: spec.position))

    def with_specs(self, added: Iterable[HandlerSpec]) -> HookConfig:
        """Return a configuration that also has these (skills, agents, callables)."""
        specs = list(self.all())
        for spec in added:
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
"""Whose value of a switch counts, first that has one."""


def build_config(
    layers: Sequence[HookLayer], *, session_specs: Iterable[HandlerSpec] = ()
) -> HookConfig:
    """Merge layers in the order given: handlers add up, switches follow precedence.

    An untrusted layer contributes no handler, only a warning that says so.
    """
    warnings: list[ConfigWarning] = []
    specs: list[HandlerSpec] = []
    fails_closed = _switch(layers, "hookFailureDefault", warnings) == "block"
    for layer in layers:
        found, problems = parse_hooks(
            layer.settings.get("hooks"),
            source=layer.source,
            file=layer.file,
            plugin=layer.plugin,
            owner=layer.owner,
            guards_fail_closed=fails_closed,
        )
        if found and not layer.trusted:
            warnings.append(
                ConfigWarning(
                    f"{len(found)} hooks do nothing until this folder is trusted",
                    layer.source,
                    layer.file,
                )
            )
            continue
        warnings.extend(problems)
        specs.extend(found)
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


def parse_hooks(
    raw: object,
    *,
    source: HookSource,
    file: str | None = None,
    plugin: PluginRoot | None = None,
    owner: str | None = None,
    guards_fail_closed: bool = False,
) -> tuple[tuple[HandlerSpec, ...], tuple[ConfigWarning, ...]]:
    """Read one `hooks` section: event → matcher groups → handlers.

    Args:
        raw: The JSON value; None is an absent section.
        guards_fail_closed: `onFailure` of PreToolUse handlers that do not say.
    """
    reader = _SectionReader(source, file, plugin, owner, guards_fail_closed)
    reader.read(raw)
    return tuple(reader.specs), tuple(reader.warnings)


class _SectionReader:
    """Walks one section; what it cannot use becomes a warning."""

    def __init__(
        self,
        source: HookSource,
        file: str | None,
        plugin: PluginRoot | None,
        owner: str | None,
        guards_fail_closed: bool,
    ) -> None:
        self.specs: list[HandlerSpec] = []
        self.warnings: list[ConfigWarning] = []
        self._source = source
        self._file = file
        self._plugin = plugin
        self._owner = owner
        self._guards_fail_closed = guards_fail_closed

    def read(self, raw: object) -> None:
        """Read the whole section."""
        if raw is None:
            return
        if not isinstance(raw, Mapping):
            self._warn("", f"expected an object of events, found {_kind(raw)}; ignored")
            return
        for event, groups in raw.items():
            name = str(event)
            if name.startswith("_") or name in ("description", "$schema"):
                continue
            if name not in EFFECTS:
                hint = _closest_event(name)
                self._warn(name, f"unknown event; its hooks never run{hint}")
                continue
            # A sub-agent ends with SubagentStop; its front matter calls that its own Stop.
            own_stop = name == "Stop" and self._source is HookSource.AGENT
            self._read_groups("SubagentStop" if own_stop else name, name, groups)

    def _read_groups(self, event: str, where: str, groups: object) -> None:
        if not isinstance(groups, list):
            if not isinstance(groups, Mapping):
                self._warn(where, f"expected a list of groups, found {_kind(groups)}; ignored")
                return
            self._warn(where, "expected a list of groups, found one group; read as a list of one")
            groups = [groups]
        for index, group in enumerate(groups):
            self._read_group(event, f"{where}[{index}]", group)

    def _read_group(self, event: str, where: str, group: object) -> None:
        if not isinstance(group, Mapping):
            self._warn(where, f"expected a group with `hooks`, found {_kind(group)}; ignored")
            return
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            self._warn(where, f"`matcher` must be text, found {_kind(matcher)}; group ignored")
            return
        handlers = group.get("hooks")
        if handlers is None and ("type" in group or "command" in group):
            self._warn(
                where,
                "a handler without its group: put it into `hooks` of a group; ignored",
            )
            return
        if not isinstance(handlers, list):
            self._warn(
                where, f"`hooks` must be a list of handlers, found {_kind(handlers)}; ignored"
            )
            return
        if "if" in group:
            self._warn(where, "`if` belongs to a handler, not to a group; it is not looked at here")
        for problem in lint_matcher(event, matcher):
            self._warn(where, problem)
        for index, handler in enumerate(handlers):
            self._read_handler(event, matcher, f"{where}.hooks[{index}]", handler)

    def _read_handler(self, event: str, matcher: str | None, where: str, raw: object) -> None:
        if not isinstance(raw, Mapping):
            self._warn(where, f"expected a handler object, found {_kind(raw)}; ignored")
            return
        try:
            handler = read_handler(raw)
        except FieldError as error:
            self._warn(where, f"{error}; handler ignored")
            return
        if handler.type not in EFFECTS[event].types:
            served = ", ".join(sorted(EFFECTS[event].types - {"callback"}))
            self._warn(
                where,
                f"{event} takes handlers of type {served}; this `{handler.type}` one never runs",
            )
            return
        spec = HandlerSpec(
            event=event,
            matcher=matcher,
            handler=handler,
            source=self._source,
            position=len(self.specs),
            condition=self._text(raw, "if", where),
            timeout_s=self._timeout(raw, where),
            status_message=self._text(raw, "statusMessage", where),
            once=self._flag(raw, "once", where),
            blocks_on_failure=self._failure_policy(event, raw, handler.type, where),
            file=self._file,
            plugin=self._plugin,
            owner=self._owner,
            order_in_file=len(self.specs),
        )
        if is_background(handler) and spec.blocks_on_failure:
            self._warn(where, "`onFailure` has no use for a handler that nothing waits for")
        for problem in lint_handler(spec, known_fields=HANDLER_FIELDS):
            self._warn(where, problem)
        if spec.condition is not None and not EFFECTS[event].is_tool_event:
            return
        self.specs.append(spec)

    def _timeout(self, raw: Mapping[str, object], where: str) -> float | None:
        value = raw.get("timeout")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            self._warn(
                where, f"`timeout` must be a number of seconds, found {value!r}; default used"
            )
            return None
        if value > 3600:
            self._warn(
                where,
                f"`timeout` is in seconds: {value:g} is {value / 3600:.1f} hours; "
                f"milliseconds were probably meant ({value / 1000:g})",
            )
        return float(min(value, 30 * 24 * 3600))

    def _text(self, raw: Mapping[str, object], name: str, where: str) -> str | None:
        value = raw.get(name)
        if value is None or (isinstance(value, str) and value.strip()):
            return value
        if value != "":
            self._warn(where, f"`{name}` must be text, found {_kind(value)}; ignored")
        return None

    def _flag(self, raw: Mapping[str, object], name: str, where: str) -> bool:
        value = raw.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._warn(where, f"`{name}` must be true or false, found {value!r}; taken as false")
        return False

    def _failure_policy(
        self, event: str, raw: Mapping[str, object], handler_type: str, where: str
    ) -> bool:
        by_default = self._guards_fail_closed and event == "PreToolUse"
        value = raw.get("onFailure")
        if value is None:
            return by_default and handler_type in ("command", "http")
        if not isinstance(value, str) or value not in FAILURE_POLICIES:
            self._warn(where, f'`onFailure` must be "block" or "ignore", found {value!r}; ignored')
            return by_default
        return FAILURE_POLICIES[value]

    def _warn(self, where: str, message: str) -> None:
        self.warnings.append(ConfigWarning(message, self._source, self._file, where))


def _each_once(warnings: Sequence[ConfigWarning]) -> tuple[ConfigWarning, ...]:
    """Say each thing once per file, and in how many places it is."""
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
    grouped: dict[str, list[HandlerSpec]] = {}
    for spec in specs:
        grouped.setdefault(spec.event, []).append(spec)
    return {event: tuple(found) for event, found in grouped.items()}


def _closed_to(layers: Sequence[HookLayer], warnings: list[ConfigWarning]) -> frozenset[HookSource]:
    """Return the sources that switches turn off; managed ones only managed settings can."""
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
            if not layer.trusted:
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
    found: list[str] = []
    present = False
    for layer in layers:
        value = layer.settings.get(name)
        if isinstance(value, list) and layer.trusted and layer.source.is_settings:
            present = True
            found.extend(entry for entry in value if isinstance(entry, str))
    return tuple(dict.fromkeys(found)) if present else None


def _as_set(values: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if values is None else frozenset(values)


def _closest_event(name: str) -> str:
    import difflib  # only for a message about a misspelt event

    close = difflib.get_close_matches(name, EFFECTS, n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case str():
            return f"text {value[:40]!r}"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case Mapping():
            return "an object"
        case _:
            return type(value).__name__


def plugin_layer(root: Path, settings: Mapping[str, object], *, name: str, data: Path) -> HookLayer:
    """Return the layer of a plugin whose `hooks.json` was read."""
    return HookLayer(
        source=HookSource.PLUGIN,
        settings=settings,
        file=str(root / "hooks" / "hooks.json"),
        plugin=PluginRoot(name=name, root=root, data=data),
    )
