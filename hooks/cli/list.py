"""The engine of `agent-tui hooks list` and of `/hooks`: the configured hooks and their health."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from hooks.answers.response import first_line
from hooks.cli.run import HookOptions, HookWorld, load_config
from hooks.config.config import HookConfig
from hooks.config.sources import SourceError
from hooks.config.spec import HandlerSpec, is_background
from hooks.events.capabilities import EFFECTS, default_timeout_s
from hooks.health import Finding, check_health
from hooks.runner import HandlerStats


async def list_hooks(
    options: HookOptions, world: HookWorld, *, as_json: bool, stdout: TextIO, stderr: TextIO
) -> int:
    """Print the configured hooks. Returns 0, or 2 when a named file cannot be used."""
    try:
        config = load_config(options, world)
    except SourceError as error:
        print(f"hooks list: {error}", file=stderr)
        return 2
    findings = check_health(
        config.all(), env=world.ports.env, cwd=world.cwd, project_dir=world.project_dir
    )
    if as_json:
        rows = [handler_json(spec, findings) for spec in config.all()]
        warnings = [str(warning) for warning in config.warnings]
        report = {"hooks": rows, "warnings": warnings}
        print(json.dumps(report, ensure_ascii=False, indent=2), file=stdout)
    else:
        print("\n".join(describe(config, findings)), file=stdout)
    return 0


def handler_json(spec: HandlerSpec, findings: Sequence[Finding] = ()) -> dict[str, object]:
    """Return one handler as data."""
    return {
        "event": spec.event,
        "matcher": spec.matcher,
        "type": spec.handler.type,
        "command": spec.label,
        "source": spec.source.value,
        "file": spec.file,
        "if": spec.condition,
        "timeout": spec.timeout_s or default_timeout_s(spec.event, spec.handler.type),
        "async": is_background(spec.handler),
        "once": spec.runs_once,
        "on_failure": "block" if spec.blocks_on_failure else "ignore",
        "health": [finding.message for finding in findings if finding.spec is spec],
    }


def describe(config: HookConfig, findings: Sequence[Finding] = ()) -> list[str]:
    """Return the configuration as lines for users, event by event."""
    lines: list[str] = []
    for event in EFFECTS:
        specs = config.handlers.get(event, ())
        if not specs:
            continue
        lines.append(f"{event} ({len(specs)})")
        for spec in specs:
            lines.append(f"  {describe_handler(spec)}")
            lines.extend(f"    ! {finding.message}" for finding in findings if finding.spec is spec)
    if config.switched_off:
        lines.append(config.switched_off)
    elif not lines:
        lines.append("No hooks are configured.")
    if config.warnings:
        lines.append("Warnings")
        lines.extend(f"  ! {warning}" for warning in config.warnings)
    return lines


def describe_handler(spec: HandlerSpec, stats: HandlerStats | None = None) -> str:
    """Return one handler, and what it did so far, as one line."""
    parts = [f"[{spec.handler.type}]", spec.matcher or "*", first_line(spec.label)[:120]]
    if spec.condition is not None:
        parts.append(f"if {spec.condition}")
    flags = [
        name
        for name, is_set in (
            ("async", is_background(spec.handler)),
            ("once", spec.runs_once),
            ("failure blocks", spec.blocks_on_failure),
        )
        if is_set
    ]
    if flags:
        parts.append(f"({', '.join(flags)})")
    parts.append(f"– {spec.where}")
    if stats is not None and stats.fire_count:
        took = "" if stats.last_duration_ms is None else f" in {stats.last_duration_ms:.0f} ms"
        parts.append(f"· fired {stats.fire_count}, last {stats.last_outcome}{took}")
    return " ".join(parts)
