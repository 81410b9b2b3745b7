"""Notices for the user about a start: settings, rules, hooks, model, session, trust."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from agent.settings.file import SettingsWarning
from agent.settings.load import Settings
from hooks.config.section import ConfigWarning
from permissions.explain.explain_decision import Shorten, place_relative


def start_notices(settings: Settings, *parts: Sequence[object]) -> tuple[str, ...]:
    """Return the lines to show, each once: those of the settings, then `parts` in order."""
    short = place_relative(str(settings.project_root), str(settings.home))
    shown_warnings = [warning for warning in settings.warnings if warning.level != "info"]
    notes = [warning_line(warning, short) for warning in merge_keys(shown_warnings)]
    home = f"{settings.home}/"
    notes.extend(
        str(_with_short_path(line, short)).replace(home, "~/") for part in parts for line in part
    )
    waiting = len(settings.waiting_rules)
    if settings.trust.must_ask and (waiting or settings.trust.new):
        count = len(settings.trust.new)
        what = (
            f"{count} settings of the project do" if count > 1 else "a setting of the project does"
        )
        notes.append(
            f"This folder is not trusted: {what} nothing (allow rules, hooks, servers, variables). "
            "/trust shows and accepts them; without a screen --trust does."
        )
    return tuple(dict.fromkeys(notes))


def merge_keys(warnings: Sequence[SettingsWarning]) -> list[SettingsWarning]:
    """Return the warnings; join those of one file with the same message for several keys."""
    keys: dict[tuple[object, ...], list[str]] = {}
    first_warnings: dict[tuple[object, ...], SettingsWarning] = {}
    for warning in warnings:
        # Without a key, the message itself says what it is about.
        group = (warning.file, warning.message, warning.level, warning.key == "")
        first_warnings.setdefault(group, warning)
        keys.setdefault(group, []).append(warning.key)
    return [
        replace(warning, key=", ".join(dict.fromkeys(keys[group])))
        for group, warning in first_warnings.items()
    ]


def _with_short_path(line: object, short: Shorten) -> object:
    if isinstance(line, ConfigWarning) and line.file is not None:
        return replace(line, file=short(line.file))
    return line


def warning_line(warning: SettingsWarning, short: Shorten) -> str:
    """Return a warning as one line, with its file as `short` writes it."""
    if warning.file is None:
        return str(warning)
    return str(replace(warning, file=Path(short(str(warning.file)))))
