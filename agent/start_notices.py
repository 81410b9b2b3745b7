"""What the person is told about a start: settings, rules, hooks, model, session, trust."""

from __future__ import annotations

from collections.abc import Sequence

from agent.settings.load import Settings


def start_notices(settings: Settings, *parts: Sequence[object]) -> tuple[str, ...]:
    """Return the lines to show, each once: those of the settings, then `parts` in order."""
    notes = [str(w) for w in settings.warnings if w.level != "info"]
    notes.extend(str(line) for part in parts for line in part)
    waiting = len(settings.waiting_rules)
    if settings.trust.must_ask and (waiting or settings.trust.new):
        notes.append(
            f"This folder is not trusted: {len(settings.trust.new)} settings of the "
            "project do nothing (allow rules, hooks, servers, variables). "
            "Use --trust to let them count."
        )
    return tuple(dict.fromkeys(notes))
