"""Python callables as hooks: same payload, same answer, no process."""

from __future__ import annotations

from hooks.answers.response import HandlerResult, judge_json
from hooks.config.spec import CallbackHandler
from hooks.execution.handlers.hook_call import HookCall
from permissions.base.text.failure_text import StatedFailure


class CallbackFailure(StatedFailure):
    """A registered function raised an exception; the message is a clause of a sentence about it."""


class CallbackHandlerMode:
    """Calls functions that were registered through the library."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Return the callable's answer. Raises StatedFailure if the callable raises."""
        handler = call.spec.handler
        assert isinstance(handler, CallbackHandler)
        try:
            answer = await handler.function(dict(call.payload))
        except StatedFailure:
            raise
        except Exception as error:
            text = str(error).strip()
            what = f": {text} ({type(error).__name__})" if text else f" ({type(error).__name__})"
            raise CallbackFailure(f"its function failed{what}") from error
        return judge_json(call.spec, answer, payload=call.payload)
