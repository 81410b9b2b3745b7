"""The engine behind `permissions check`, `explain` and `lint`: lines in, lines out, nothing runs.

The formats are those of the command-line documentation: one JSON object per line each way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.strict_json import load_json
from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import Behavior, Decision, DecisionWarning, PartVerdict, WarningType
from permissions.evaluate.cascade import decide
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.explain.explain_decision import (
    HOW_TO_READ,
    Shorten,
    explanation_lines,
    extra_detail,
    home_relative,
    reason_text,
    with_rules,
)
from permissions.lint.examples import call_of
from permissions.lint.lint import lint, shadow_warnings
from permissions.matching.effective_rules import requested_mode
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rules.rule_entry import are_texts, rule_texts
from permissions.rules.rule_set import RuleBehavior, RuleSet, RuleSource, RuleText

EXIT_STATUS = {Behavior.ALLOW: 0, Behavior.ASK: 3, Behavior.DENY: 4}
"""Exit status of `permissions explain`."""


class BadLine(ValueError):
    """A line that cannot be decided; the message names what is expected."""


class LoadedSettings(Struct, frozen=True):
    """What the real settings contain, for lines that bring no rules of their own."""

    rules: tuple[RuleText, ...] = ()
    additional_dirs: tuple[Path, ...] = ()
    policy: Mapping[str, object] | None = None
    blocked_hosts: frozenset[str] = frozenset()
    settings_dir: Path | None = None
    """The user's settings directory, when it is not `<home>/.agent`."""
    waiting: tuple[RuleText, ...] = ()
    """Allow rules of a project that is not trusted yet: they apply once it is."""


LoadSettings = Callable[[Path, Path], LoadedSettings]
"""Takes the project root and the home directory."""


class Checker:
    """Decides lines one by one and remembers whether one was bad."""

    def __init__(
        self,
        load_settings: LoadSettings,
        *,
        level: Callable[[], SandboxLevel] = lambda: SandboxLevel.NONE,
        classifier: bool = False,
        cwd: Path | None = None,
        home: Path | None = None,
    ) -> None:
        """The arguments are defaults for lines without values of their own.

        Args:
            level: Returns what this machine enforces; called for lines without `sandbox`.
            cwd: None for the process's own; the same for `home`.
        """
        self._level = level
        self._load = load_settings
        self._classifier = classifier
        self._cwd = Path.cwd() if cwd is None else cwd
        self._home = Path.home() if home is None else home
        self._settings: dict[tuple[Path, Path], LoadedSettings] = {}
        self.had_bad_line = False

    def run(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield one JSON line per line that is not blank, in order."""
        for line in lines:
            if line.strip():
                yield json.dumps(self.check(line))

    def check(self, line: str) -> dict[str, object]:
        """Return the answer to one line: a decision, or `{id, error}`."""
        identity: object = None
        try:
            call = _object(line)
            identity = call.get("id")
            return {"id": identity, **self._decide(call).as_json()}
        except BadLine as error:
            self.had_bad_line = True
            return {"id": identity, "error": str(error)}
        except Exception as error:  # noqa: BLE001 - one line must not end the run, nor be allowed
            self.had_bad_line = True
            return {"id": identity, "error": f"the check failed: {error!r}"}

    def _decide(self, call: Mapping[str, object]) -> Decision:
        # A line may also be the payload of a hook.
        tool = call.get("tool", call.get("tool_name"))
        if not isinstance(tool, str) or not tool:
            raise BadLine("'tool' must be the name of a tool")
        tool_input = call.get("input", call.get("tool_input", {}))
        if not isinstance(tool_input, dict):
            raise BadLine("'input' must be an object")
        context, warnings = self._context(call)
        request = PermissionRequest(tool, tool_input)
        decide_call = decide_with_classifier if self._classifier else decide
        decision = decide_call(request, context)
        shadows = _shadows(context.rules.texts)
        requested_by = call.get("mode_requested_by")
        own = [
            replace(warning, source=requested_by)
            if warning.type is WarningType.BYPASS_UNAVAILABLE and isinstance(requested_by, str)
            else warning
            for warning in decision.warnings
        ]
        return replace(decision, warnings=(*warnings, *own, *shadows))

    def _context(
        self, call: Mapping[str, object]
    ) -> tuple[PermissionContext, tuple[DecisionWarning, ...]]:
        home = _path(call, "home", self._home, self._cwd)
        root = _path(call, "project_root", None, self._cwd)
        cwd = _path(call, "cwd", root or self._cwd, self._cwd) or self._cwd
        project_root = root or cwd
        home = home or self._home
        settings = LoadedSettings()
        if call.get("rules") is None:
            settings = self._load_settings(project_root, home)
            rules = _build_rules((*settings.rules, *settings.waiting))
        else:
            rules = _build_rules(tuple(_rule_texts(call["rules"])))
        policy = call.get("policy", settings.policy or {})
        if not isinstance(policy, Mapping):
            raise BadLine("'policy' must be an object")
        mode, warnings = _mode_of(call)
        return (
            PermissionContext(
                mode=mode,
                rules=rules,
                launch_dir=cwd,
                project_root=project_root,
                home=home,
                additional_dirs=(*settings.additional_dirs, *_directories(call, cwd, home)),
                is_trusted=_flag(call, "trusted", default=not settings.waiting),
                bypass_available=_flag(call, "bypass_available", default=False),
                policy=policy,
                blocked_hosts=_hosts(policy) | settings.blocked_hosts,
                settings_dir=None if call.get("home") is not None else settings.settings_dir,
                sandbox=self._sandbox(call),
            ),
            warnings,
        )

    def _sandbox(self, call: Mapping[str, object]) -> SandboxState:
        level_name = call.get("sandbox")
        if level_name is not None and level_name not in tuple(SandboxLevel):
            raise BadLine(f"'sandbox' must be one of {', '.join(SandboxLevel)}")
        return SandboxState(
            level=self._level() if level_name is None else SandboxLevel(str(level_name)),
            works_inside=_flag(call, "sandbox_auto_allow", default=False),
        )

    def _load_settings(self, project_root: Path, home: Path) -> LoadedSettings:
        key = (project_root, home)
        if key not in self._settings:
            self._settings[key] = self._load(project_root, home)
        return self._settings[key]


def _mode_of(call: Mapping[str, object]) -> tuple[Mode, tuple[DecisionWarning, ...]]:
    mode_value = call.get("mode", call.get("permission_mode"))
    if mode_value is None:
        return Mode.DEFAULT, ()
    requested_by = call.get("mode_requested_by")
    if requested_by is not None and not isinstance(requested_by, str):
        raise BadLine("'mode_requested_by' must be a string")
    return requested_mode(mode_value, requested_by)


def run_lint_jsonl(lines: Iterable[str]) -> Iterator[str]:
    """Yield one `{id, warnings}` per line `{id, rules, sandbox_auto_allow?}`."""
    for line in lines:
        if line.strip():
            yield json.dumps(_lint_line(line))


def explain(
    call_text: str, context: PermissionContext, *, cwd: Path | None = None, classifier: bool = False
) -> tuple[str, Decision]:
    """Return the decision on one call such as `Bash(git push)` as text for users, and as data."""
    tool, tool_input = call_of("Bash", call_text)
    if "(" not in call_text and call_text.isidentifier():
        tool, tool_input = call_text, {}
    decide_call = decide_with_classifier if classifier else decide
    decision = decide_call(PermissionRequest(tool, tool_input), context, cwd=cwd)
    short = home_relative(str(context.home))
    text = describe(with_rules(decision, context.rules), short)
    if not classifier and decision.behavior is Behavior.ASK:
        by_classifier = decide_with_classifier(
            PermissionRequest(tool, tool_input), context, cwd=cwd
        )
        if by_classifier.behavior is Behavior.ALLOW:
            text += (
                "\nIn a conversation and with -p the local classifier answers before that: it "
                f"allows this, which {reason_text(by_classifier, short)}. --classifier shows it."
            )
    return text, decision


def describe(decision: Decision, short: Shorten = str) -> str:
    """Return a decision in lines for users: the answer, its parts, and what each step answered."""
    lines = [f"{decision.behavior}: {reason_text(decision, short)}"]
    if len(decision.parts) > 1:
        lines.append("parts, the strictest decides:")
        lines.extend(_part_line(one, short) for one in decision.parts)
    lines.append(HOW_TO_READ)
    lines.extend(explanation_lines(decision, short))
    for warning in decision.warnings:
        lines.append(f"warning: {warning.rule or warning.type}: {warning.message}")
    return "\n".join(lines)


def _part_line(part: PartVerdict, short: Shorten) -> str:
    ground = reason_text(part, short)
    detail = "; ".join(filter(None, (ground, extra_detail(part, ground))))
    return f"  {part.behavior:<5} {part.text}  ({detail})"


def _lint_line(line: str) -> dict[str, object]:
    identity: object = None
    try:
        fields = _object(line)
        identity = fields.get("id")
        rules = _build_rules(tuple(_rule_texts(fields.get("rules") or {})))
        auto_allow = _flag(fields, "sandbox_auto_allow", default=False)
    except BadLine as error:
        return {"id": identity, "error": str(error)}
    result = lint(rules, sandbox_auto_allow=auto_allow)
    return {"id": identity, "warnings": [warning.as_json() for warning in result]}


@lru_cache(maxsize=256)
def _build_rules(texts: tuple[RuleText, ...]) -> RuleSet:
    return RuleSet.build(texts)[0]


@lru_cache(maxsize=256)
def _shadows(texts: tuple[RuleText, ...]) -> tuple[DecisionWarning, ...]:
    return shadow_warnings(_build_rules(texts))


def _object(line: str) -> dict[str, object]:
    try:
        result = load_json(line.strip())
    except ValueError as error:
        raise BadLine(f"not JSON: {error}") from error
    if not isinstance(result, dict):
        raise BadLine("expected a JSON object")
    return result


def _rule_texts(lists_by_source: object) -> Iterator[RuleText]:
    if not isinstance(lists_by_source, Mapping):
        raise BadLine("'rules' must be an object of sources")
    for source_name, lists in lists_by_source.items():
        try:
            source = RuleSource(source_name)
        except ValueError:
            source_names = ", ".join(RuleSource)
            raise BadLine(f"unknown source {source_name!r}; expected {source_names}") from None
        if lists is None:
            continue
        if not isinstance(lists, Mapping):
            raise BadLine(f"'{source_name}' must be an object with allow, ask, deny")
        for name, entries in lists.items():
            yield from _rules_of_list(source, name, entries)


def _rules_of_list(source: RuleSource, name: str, entries: object) -> Iterator[RuleText]:
    try:
        behavior = RuleBehavior(name)
    except ValueError:
        raise BadLine(f"unknown list {name!r} in '{source}'") from None
    if entries is None:
        return
    if not isinstance(entries, list):
        raise BadLine(f"'{source}.{name}' must be a list")
    for entry in entries:
        yield from rule_texts(entry, behavior, source)


def _path(call: Mapping[str, object], key: str, default: Path | None, base: Path) -> Path | None:
    value = call.get(key)
    if value is None:
        return default
    if not isinstance(value, str) or not value or "\x00" in value:
        raise BadLine(f"'{key}' must be a path")
    return Path(os.path.abspath(base / value))


def _directories(call: Mapping[str, object], cwd: Path, home: Path) -> tuple[Path, ...]:
    value = call.get("additional_directories")
    if value is None:
        return ()
    if not isinstance(value, list) or not are_texts(value):
        raise BadLine("'additional_directories' must be a list of paths")
    results: list[Path] = []
    for item in value:
        text = str(home) + item[1:] if item == "~" or item.startswith("~/") else item
        results.append(Path(os.path.abspath(cwd / text)))
    return tuple(results)


def _hosts(policy: Mapping[str, object]) -> frozenset[str]:
    hosts = policy.get("blockedHosts")
    if hosts is None:
        return frozenset()
    if not isinstance(hosts, list) or not are_texts(hosts):
        raise BadLine("'policy.blockedHosts' must be a list of hosts")
    return frozenset(host.lower().rstrip(".") for host in hosts)


def _flag(call: Mapping[str, object], key: str, *, default: bool) -> bool:
    value = call.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise BadLine(f"'{key}' must be true or false")
    return value
