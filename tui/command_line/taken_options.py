"""Options that client libraries of other agents send, accepted without effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TAKEN_FLAGS: Final = (
    "--await-initialize", "--debug-to-stderr", "--exclude-dynamic-system-prompt-sections",
    "--mcp-debug", "--no-chrome",
)  # fmt: skip
_TAKEN_VALUES: Final = (
    "--betas", "--permission-prompts", "--system-prompt-snapshot", "--thinking-display",
)  # fmt: skip


def add_ignored_options(function: _Function) -> _Function:
    """Add options that client libraries send and that have no effect here."""
    for name in _TAKEN_FLAGS:
        function = click.option(name, is_flag=True, hidden=True, expose_value=False)(function)
    for name in _TAKEN_VALUES:
        function = click.option(name, hidden=True, expose_value=False, callback=_warn_ignored)(
            function
        )
    return function


def _warn_ignored(_context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        click.echo(f"agent-tui: {parameter.opts[0]} has no effect in this version.", err=True)
