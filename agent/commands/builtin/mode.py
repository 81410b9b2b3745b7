"""`/mode`: the permission mode, by name; Shift+Tab cycles through them."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from permissions.gate import PermissionGate
from permissions.mode import Mode, mode_name, parse_mode


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Show the mode, or switch to the named one if it is available in this run."""
    mode_text = arguments.strip()
    names = ", ".join(str(mode) for mode in _available_modes(context.gate))
    if not mode_text:
        return ShowText(f"{mode_name(context.gate.mode)}; available: {names}")
    mode = parse_mode(mode_text)
    if mode is None:
        return ShowText(f"Unknown mode {mode_text!r}. Known: {names}.", "warning")
    warnings = context.gate.set_mode(mode)
    if warnings:
        return ShowText("\n".join(warning.message for warning in warnings), "warning")
    return ShowText(mode_name(mode))


def _available_modes(gate: PermissionGate) -> list[Mode]:
    """Return the modes that can be entered in this conversation."""
    unavailable = set()
    if not gate.context.bypass_available:
        unavailable.add(Mode.BYPASS)
    if not gate.auto_available:
        unavailable.add(Mode.AUTO)
    return [mode for mode in Mode if mode not in unavailable]
