"""`/hooks`: the configured hooks, their files, runs and results, and what a dry run would fire."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from hooks.cli.dry_run import payload_of
from hooks.cli.payload_from_json import PayloadError
from hooks.config.spec import HandlerSpec, is_background
from hooks.events.capabilities import default_timeout_s
from hooks.health import check_health
from hooks.runner import HandlerStats, HookRunner
from themes.theme import Role
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.ports.command_screen import CommandScreen
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row
from tui.transcript.tool_card import duration

WARNING = Ink(Role.WARNING)
_NONE = "No hooks configured. Add them under “hooks” in .agent/settings.json (see docs/hooks.md)."
QUESTION = (
    "A call, such as Bash(rm -rf out) or PostToolUse Write(src/a.ts), or an event, such as "
    "SessionStart resume. Nothing is run."
)


_ENDINGS: Final = {
    "success": "succeeded",
    "blocking": "blocked",
    "non_blocking_error": "failed",
    "cancelled": "was cancelled",
}


class DryRun(Struct, frozen=True):
    """Which handlers would run for one call or event."""

    question: str
    verdicts: Mapping[int, tuple[bool, str]]
    """By position of the handler: whether it would run, and why; without other events' handlers."""


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Show the hooks until the panel is closed; users change them in their files.

    If the argument is a call or an event, the panel shows which hooks would run for it.
    """
    command_service = screen.session.commands
    if command_service is None:
        return
    runner = command_service.context.hooks
    env, cwd = command_service.context.env, command_service.context.session.launch_dir
    root = command_service.context.settings().project_root
    specs = runner.config.all()
    # In a thread: bash checks the syntax of each command.
    health = await asyncio.to_thread(_health, specs, env, cwd, root)
    dry = _dry_run(screen, runner, argument) if argument else None
    selected_index = 0
    while True:
        specs = runner.config.all()
        panel = ListPanel(
            "Hooks",
            [_item(spec, runner.stats(spec), health.get(spec.position, ()), dry) for spec in specs],
            question=_question(runner, specs, dry),
            selected_index=selected_index,
            list_keys={"tab": "would it fire?"},
            preview=_preview(runner, specs, health, dry),
            hint="type to search · tab would it fire? · esc close",
            empty=runner.config.switched_off or _NONE,
        )
        pick = await screen.show_dialog(panel)
        if pick is None:
            return
        selected_index = pick.index
        if pick.key == "tab":
            text = await screen.show_dialog(LineEntry("Would it fire?", QUESTION))
            dry = _dry_run(screen, runner, text) if text else None


def _health(
    specs: Sequence[HandlerSpec], env: Mapping[str, str], cwd: Path, root: Path
) -> dict[int, list[str]]:
    messages: dict[int, list[str]] = {}
    for finding in check_health(specs, env=env, cwd=cwd, project_dir=root):
        messages.setdefault(finding.spec.position, []).append(finding.message)
    return messages


def _dry_run(screen: CommandScreen, runner: HookRunner, text: str) -> DryRun | None:
    try:
        verdicts = runner.would_fire(payload_of(text))
    except PayloadError as error:
        screen.notice(str(error), "warning")
        return None
    return DryRun(text, {one.spec.position: (one.fires, one.why) for one in verdicts})


def _question(runner: HookRunner, specs: Sequence[HandlerSpec], dry: DryRun | None) -> str:
    if dry is not None:
        firing = sum(fires for fires, _ in dry.verdicts.values())
        return f"{shown_line(dry.question)} would fire {firing} of {len(dry.verdicts)} (✓)"
    counts = Counter(spec.event for spec in specs)
    parts = [f"{event} {count}" for event, count in counts.items()]
    if runner.config.switched_off and specs:
        parts.append(runner.config.switched_off)
    warnings = len(runner.config.warnings)
    if warnings:
        parts.append(f"{warnings} warning{'s' * (warnings != 1)}: see agent-tui hooks list")
    return " · ".join(parts)


def _item(
    spec: HandlerSpec, stats: HandlerStats, problems: Sequence[str], dry: DryRun | None
) -> Item:
    matcher = f" ({spec.matcher})" if spec.matcher and spec.matcher != "*" else ""
    sign = "✗ " if problems else ""
    if dry is not None:
        fires, _ = dry.verdicts.get(spec.position, (False, ""))
        sign = "✓ " if fires else "  "
    count = f"{stats.fire_count}× " if stats.fire_count else ""
    return Item(
        f"{sign}{spec.event}{matcher}",
        f"[{spec.handler.type}] {count}{spec.label}",
        keywords=spec.where,
    )


def _history(stats: HandlerStats) -> str:
    """Return how often a handler ran, and the result of the last run."""
    if not stats.fire_count:
        return "has not fired yet"
    times = "once" if stats.fire_count == 1 else f"{stats.fire_count} times"
    if stats.last_outcome is None:
        return f"fired {times}, still running"
    ms = stats.last_duration_ms
    took = "" if ms is None else f" in {duration(ms / 1000) if ms >= 1000 else f'{ms:.0f} ms'}"
    ending = _ENDINGS.get(stats.last_outcome, stats.last_outcome)
    return f"fired {times}, the last run {ending}{took}"


def _preview(
    runner: HookRunner,
    specs: Sequence[HandlerSpec],
    health: Mapping[int, Sequence[str]],
    dry: DryRun | None,
) -> Callable[[int, int], list[Row]]:
    def rows(index: int, width: int) -> list[Row]:
        spec = specs[index]
        stats = runner.stats(spec)
        texts: list[tuple[str, Ink]] = [(spec.label, TEXT), (_settings(spec), MUTED)]
        texts.append((_history(stats), MUTED))
        if stats.last_error is not None:
            texts.append((stats.last_error, WARNING))
        texts += [(problem, WARNING) for problem in health.get(spec.position, ())]
        if dry is not None and spec.position in dry.verdicts:
            fires, why = dry.verdicts[spec.position]
            texts.append((f"would {'fire' if fires else 'not fire'}: {why}", TEXT))
        elif dry is not None:
            texts.append((f"would not fire: it handles {spec.event}", TEXT))
        return [line for text, ink in texts for line in paragraph_rows(text, width, ink)]

    return rows


def _settings(spec: HandlerSpec) -> str:
    timeout_s = spec.timeout_s or default_timeout_s(spec.event, spec.handler.type)
    parts = [
        f"from {spec.where}",
        *([f"if {spec.condition}"] if spec.condition else []),
        f"at most {timeout_s:g} s",
        *(["not waited for"] if is_background(spec.handler) else []),
        *(["once"] if spec.runs_once else []),
        *(["its failure blocks"] if spec.blocks_on_failure else []),
    ]
    return ", ".join(parts)
