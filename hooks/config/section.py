"""Read one `hooks` section: events, groups, handlers; what cannot be used becomes a warning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from hooks.config.lint import lint_handler, lint_matcher
from hooks.config.read_fields import FieldError, read_handler
from hooks.config.spec import HandlerSpec, HookSource, PluginRoot, is_background
from hooks.events.capabilities import EFFECTS, GUARDS, LONGEST_TIMEOUT_S, closest_event

FAILURE_POLICIES: Final = {"block": True, "ignore": False, "continue": False, "allow": False}


class ConfigWarning(Struct, frozen=True):
    """One thing in a hooks section that does not do what it seems to."""

    message: str
    source: HookSource
    file: str | None = None
    where: str = ""
    """Path inside the section, such as `PreToolUse[0].hooks[1]`."""

    def __str__(self) -> str:
        """Return the line for users."""
        origin = self.file or self.source.value
        place = f": hooks.{self.where}" if self.where else ""
        return f"{origin}{place}: {self.message}"


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
        guards_fail_closed: `onFailure` of PreToolUse handlers without one.
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
                hint = closest_event(name)
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
        if not isinstance(handlers, list):
            is_handler = handlers is None and ("type" in group or "command" in group)
            self._warn(
                where,
                "a handler without its group: put it into `hooks` of a group; ignored"
                if is_handler
                else f"`hooks` must be a list of handlers, found {_kind(handlers)}; ignored",
            )
            return
        if "if" in group:
            self._warn(where, "`if` belongs to a handler, not to a group; it is ignored here")
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
            types = ", ".join(sorted(EFFECTS[event].types - {"callback"}))
            self._warn(
                where,
                f"{event} supports handlers of type {types}; "
                f"this `{handler.type}` handler never runs",
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
            runs_once=self._flag(raw, "once", where),
            blocks_on_failure=self._failure_policy(event, raw, handler.type, where),
            file=self._file,
            plugin=self._plugin,
            owner=self._owner,
        )
        if is_background(handler) and spec.blocks_on_failure:
            self._warn(where, "`onFailure` has no effect on a handler that is not waited for")
        for problem in lint_handler(spec):
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
            seconds = float(min(value, LONGEST_TIMEOUT_S * 1000))
            self._warn(
                where,
                f"`timeout` is in seconds: {seconds:g} is {seconds / 3600:.1f} hours; "
                f"milliseconds were probably meant ({seconds / 1000:g})",
            )
        return float(min(value, LONGEST_TIMEOUT_S))

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
        by_default = self._guards_fail_closed and event in GUARDS
        value = raw.get("onFailure")
        if value is None:
            return by_default and handler_type in ("command", "http")
        if not isinstance(value, str) or value not in FAILURE_POLICIES:
            self._warn(where, f'`onFailure` must be "block" or "ignore", found {value!r}; ignored')
            return by_default
        return FAILURE_POLICIES[value]

    def _warn(self, where: str, message: str) -> None:
        self.warnings.append(ConfigWarning(message, self._source, self._file, where))


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
