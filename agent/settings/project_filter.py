"""Which parts of a project's settings file apply: no forbidden keys, the rest if trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.project_items import (
    WAITING_SETTINGS,
    handlers,
    hook_item,
    setting_item,
    status_line_item,
    variable_item,
)
from agent.settings.schema import SettingsFile
from agent.settings.sections.project_limits import (
    FORBIDDEN_IN_PROJECT,
    FORBIDDEN_PERMISSIONS_IN_PROJECT,
    is_forbidden_variable,
)
from agent.settings.sections.sandbox_section import tightening_part
from agent.settings.trust import TrustState
from agent.typed_json.read_record import as_values
from permissions.rule import RuleSource

PROJECT_SOURCES: Final = (RuleSource.PROJECT, RuleSource.LOCAL)
"""Sources that a repository can contain; local settings may have been committed as well."""


def trusted_part(
    settings_file: LoadedFile, state: TrustState
) -> tuple[LoadedFile, list[SettingsWarning]]:
    """Return the part of a file that applies now, and a warning for each forbidden key.

    Rules and MCP servers are filtered elsewhere, one by one; files of other sources are unchanged.
    """
    if settings_file.source not in PROJECT_SOURCES:
        return settings_file, []
    from agent.settings.describe import has_effect  # only for projects with settings

    warnings: list[SettingsWarning] = []

    def refuse(key: str, *path: str) -> None:
        message = "ignored in project settings, allowed only in your user settings"
        line = settings_file.line_of(*path)
        warnings.append(SettingsWarning(message, settings_file.path, line, key))

    model = settings_file.model
    update: dict[str, object] = {}
    for key in sorted(FORBIDDEN_IN_PROJECT & settings_file.root.members.keys()):
        if has_effect(key):
            refuse(key, key)
        if key in model.__struct_fields__:
            update[key] = None
    if model.permissions is not None:
        bad = sorted(FORBIDDEN_PERMISSIONS_IN_PROJECT & as_values(model.permissions).keys())
        for key in bad:
            refuse(f"permissions.{key}", "permissions", key)
        update["permissions"] = replace(model.permissions, **dict.fromkeys(bad))
    for name in filter(is_forbidden_variable, model.env or {}):
        refuse(f"env.{name}", "env", name)
    if model.sandbox is not None:
        update["sandbox"], widening = tightening_part(model.sandbox)
        for path in widening:
            refuse(".".join(("sandbox", *path)), "sandbox", *path)
    update |= _only_trusted(model, state)
    return replace(settings_file, model=replace(model, **update)), warnings


def _trusted_hooks(hooks: Mapping[str, object], state: TrustState) -> dict[str, object]:
    remaining: dict[str, object] = {}
    for event, groups in hooks.items():
        accepted_groups: list[object] = []
        for group, handler in handlers(groups):
            if state.in_force(hook_item(event, group, handler, file=None, line=None)):
                accepted_groups.append({**group, "hooks": [handler]})
        if state.is_trusted:
            # They run nothing: they are passed on to be reported.
            accepted_groups += _malformed_groups(groups)
        if accepted_groups:
            remaining[event] = accepted_groups
    return remaining


def _malformed_groups(groups: object) -> list[object]:
    """Return the parts of one event's configuration other than groups of handlers."""
    return [
        group
        for group in (groups if isinstance(groups, list) else (groups,))
        if not (isinstance(group, dict) and isinstance(group.get("hooks"), list))
    ]


def _only_trusted(model: SettingsFile, state: TrustState) -> dict[str, object]:
    """Return replacements for the values that wait for trust."""
    env = {
        name: value
        for name, value in (model.env or {}).items()
        if not is_forbidden_variable(name)
        and state.in_force(variable_item(name, value, file=None, line=None))
    }
    hooks = _trusted_hooks(model.hooks or {}, state)
    update: dict[str, object] = {"env": env or None, "hooks": hooks or None}
    if model.statusLine is not None:
        status_line = status_line_item(model.statusLine.command, file=None, line=None)
        update["statusLine"] = model.statusLine if state.in_force(status_line) else None
    for key in WAITING_SETTINGS:
        value = getattr(model, key)
        if value is not None and not state.in_force(setting_item(key, value, file=None, line=None)):
            update[key] = None
    return update
