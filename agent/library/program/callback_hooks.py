"""Python functions as hooks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource

HookFunction = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object] | None]]
"""Takes a hook's payload; returns the output object that a hook would print, or None."""

OWNER: Final = "library"


def callback_hooks(functions: Mapping[str, Sequence[HookFunction]]) -> list[HandlerSpec]:
    """Convert functions, by hook event, to handlers for a hook runner.

    A `PreToolUse` function that raises, or returns an invalid value, blocks the call.
    """
    specs: list[HandlerSpec] = []
    for event, event_functions in functions.items():
        for function in event_functions:
            name = getattr(function, "__qualname__", repr(function))
            specs.append(
                HandlerSpec(
                    event=event,
                    matcher=None,
                    handler=CallbackHandler(name, function),
                    source=HookSource.CODE,
                    position=len(specs),
                    # A guard that fails must block the call.
                    blocks_on_failure=event == "PreToolUse",
                    owner=OWNER,
                )
            )
    return specs
