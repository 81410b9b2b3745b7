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
    notes = [warning_line(w, short) for w in settings.warnings if w.level != "info"]
    home = f"{settings.home}/"
    notes.extend(str(_nearer(line, short)).replace(home, "~/") for part in parts for line in part)
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


def _nearer(line: object, short: Shorten) -> object:
    if isinstance(line, ConfigWarning) and line.file is not None:
        return replace(line, file=short(line.file))
    return line


def warning_line(warning: SettingsWarning, short: Shorten) -> str:
    """Return a warning as one line, with its file as `short` writes it."""
    if warning.file is None:
        return str(warning)
    return str(replace(warning, file=Path(short(str(warning.file)))))
