"""`/hooks`: every configured hook: event, matcher, what runs, and where it is written."""

from __future__ import annotations

from collections.abc import Sequence

from hooks.health import check_health
from hooks.spec import HandlerSpec
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel
from tui.shown import shown_line
from tui.text.ink import MUTED, TEXT, Row, row
from tui.text.wrap import wrap


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Show the hooks until the panel is closed; they are changed in their files."""
    center = screen.commands
    if center is None:
        return
    specs = center.context.hooks().all()
    env, cwd = center.context.env, center.context.session.launch_dir
    health = {f.spec.position: f.message for f in check_health(specs, env=env, cwd=cwd)}
    items = [_item(spec, health.get(spec.position)) for spec in specs]

    def preview(index: int, width: int) -> Sequence[Row]:
        spec = specs[index]
        texts = [
            f"{spec.label}",
            f"from {spec.where}" + (f", if {spec.condition}" if spec.condition else ""),
            *([health[spec.position]] if spec.position in health else []),
        ]
        return [
            row("   ", *line.runs)
            for place, text in enumerate(texts)
            for line in wrap([(shown_line(text), MUTED if place else TEXT)], max(1, width - 4))
        ]

    panel = ListPanel("Hooks", items, preview=preview, empty="no hooks are configured")
    while await screen.show_dialog(panel) is not None:
        panel = ListPanel("Hooks", items, preview=preview)


def _item(spec: HandlerSpec, problem: str | None) -> Item:
    matcher = f" ({spec.matcher})" if spec.matcher and spec.matcher != "*" else ""
    sign = "✗ " if problem else ""
    return Item(f"{sign}{spec.event}{matcher}", spec.label, keywords=spec.where)
