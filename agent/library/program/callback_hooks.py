"""Python functions as hooks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource

HookFunction = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object] | None]]
"""Takes a hook's payload, returns its answer as a hook would print it, or None."""

OWNER: Final = "library"


def callback_hooks(functions: Mapping[str, Sequence[HookFunction]]) -> list[HandlerSpec]:
    """Return functions, given by hook event, as handlers for a runner.

    A `PreToolUse` function that raises, or does not return an answer, blocks the call.
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
                    # A guard that breaks must not let the call through unguarded.
                    blocks_on_failure=event == "PreToolUse",
                    owner=OWNER,
                )
            )
    return specs
