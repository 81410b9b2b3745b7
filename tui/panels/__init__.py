"""Panels that commands open, by name; each module is imported when its panel is opened."""

from __future__ import annotations

from typing import Final

PANELS: Final = {
    name: f"tui.panels.{name}"
    for name in (
        "agents",
        "color",
        "config",
        "context",
        "copy",
        "diff",
        "doctor",
        "focus",
        "help",
        "hooks",
        "mcp",
        "memory",
        "model",
        "permissions",
        "resume",
        "rewind",
        "sandbox",
        "tasks",
        "terminal_setup",
        "theme",
        "trust",
        "workflows",
    )
}
"""Each module has `async def open_panel(screen, argument)`, which returns when the panel closes."""
