"""A summary that the endpoint writes and signs, so that thinking in later messages stays valid.

Only if the endpoint declares support for it (`ModelCapabilities.signed_compaction`). Next:
`agent.memory.context_manager`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from msgspec.structs import replace

from agent.abort import Aborted, AbortSignal
from agent.events import Notice, Usage
from agent.history import is_signed_summary
from agent.loop.model_turn import Answered, Failed, ModelTurn, Recovery
from agent.memory.stages.digest import own_words
from agent.memory.stages.summary import CONTENTS
from agent.memory.summarizer import only_recovery
from agent.messages import Message
from agent.model.client import ModelClient, ModelError, ModelRequest
from agent.stream import Emit, TurnEvents

_ASK: Final = """\
Summarize this conversation: what you write replaces it, and nothing else of it will be remembered.
{contents}
{focus}
At the end repeat these messages of the user word for word, under the heading "The user's \
messages so far":
{words}"""


class EndpointSummaryPort(Protocol):
    """Lets the endpoint replace messages by a summary."""

    def is_available(self) -> bool:
        """Whether the endpoint supports it, as far as is known."""
        ...

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> Message:
        """Return the message that replaces these, which is the first of the new history.

        Raises:
            ModelError: the endpoint failed; use local steps instead.
            Aborted: the user interrupted.
        """
        ...


class EndpointSummaries:
    """Requests summaries with the conversation's client and request builder."""

    def __init__(
        self,
        client: ModelClient,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        recovery: Callable[[], Recovery],
        *,
        has_them: Callable[[], bool],
        turn_id: Callable[[], str],
        account: Callable[[Usage, str], Awaitable[None]],
        emit: Emit,
    ) -> None:
        """`has_them` returns whether the current model supports it; for the rest see
        `ModelSummarizer`."""
        self._client = client
        self._request = request
        self._recovery = recovery
        self._has_them = has_them
        self._turn_id = turn_id
        self._account = account
        self._emit = emit
        self._was_refused = False

    def is_available(self) -> bool:
        """Whether the endpoint supports it: never after a refusal, nor during a fallback to another
        model."""
        helps_out = self._recovery().fallen_back_to is not None
        return self._has_them() and not self._was_refused and not helps_out

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> Message:
        """See `EndpointSummaryPort`."""
        words = "Compacting the conversation to make room…"
        await self._emit(Notice(self._turn_id(), "info", words))
        ask = _ASK.format(
            contents=CONTENTS,
            focus=f"The user asks to keep in particular: {focus}\n" if focus.strip() else "",
            words=own_words(messages) or "(none)",
        )
        turn = ModelTurn(
            self._client,
            # Another model may not support summaries, or reject one that it did not write.
            replace(self._recovery(), fallback_models=()),
            replace(self._request(messages), compaction=ask),
            TurnEvents(only_recovery(self._emit), self._turn_id()),
            step=0,
        )
        match await turn.run(abort):
            case Answered() as answer:
                await self._account(answer.usage, answer.message.model or "")
                block = next((b for b in answer.message.content if is_signed_summary(b)), None)
                if block is None:
                    raise ModelError("malformed", "The endpoint wrote no summary.", phase="stream")
                return Message("user", (block,), "summary", model=answer.message.model)
            case Failed() as failure:
                self._was_refused = failure.error.status in (400, 404, 422)
                raise failure.error
            case _:
                raise Aborted(abort.reason or "interrupted")
