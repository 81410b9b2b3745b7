"""Python callables as hooks: same payload, same answer, no process."""

from __future__ import annotations

from hooks.answers.response import HandlerResult, judge_json
from hooks.config.spec import CallbackHandler
from hooks.execution.handlers.hook_call import HookCall


class CallbackHandlerMode:
    """Calls functions that were registered through the library."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Return what the callable answered; an exception it raises is the runner's to report."""
        handler = call.spec.handler
        assert isinstance(handler, CallbackHandler)
        answer = await handler.function(dict(call.payload))
        return judge_json(call.spec, answer, asked=call.payload)
