"""A side question: the model sees the conversation, but question and answer are not added to it.

The request has the same prefix as those of the conversation, so that the prompt cache is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from agent.events import Usage
from agent.history import open_tool_uses
from agent.messages import Message, user_message
from agent.model.client import ModelClient, ModelError, ModelRequest
from agent.model.message_builder import MessageBuilder
from agent.prompt.system import note

MAX_TOKENS: Final = 2_000
_ASK: Final = (
    "The user asks something beside the work. Answer from what you know, shortly and without "
    "tools; this question and your answer will not be part of the conversation."
)


class SideQuestion:
    """Asks the conversation's own model."""

    def __init__(
        self,
        client: ModelClient,
        request: Callable[[tuple[Message, ...]], ModelRequest],
        messages: Callable[[], tuple[Message, ...]],
        account: Callable[[Usage, str], None],
    ) -> None:
        """`request` builds a request like the conversation's; `account` receives the usage."""
        self._client = client
        self._request = request
        self._messages = messages
        self._account = account

    async def ask(self, question: str) -> str:
        """Return the answer's text; failures are not retried.

        Raises:
            ModelError: the request failed, or the answer was cut off or empty.
        """
        history = _settled_messages(self._messages())
        message = user_message(f"{note(_ASK)}\n\n{question}")
        request = self._request((*history, message))
        fold = MessageBuilder()
        async for event in self._client.stream(
            replace(
                request,
                max_tokens=min(request.max_tokens, MAX_TOKENS),
                thinking=False,
                tool_choice={"type": "none"} if request.tools else None,
            )
        ):
            fold.feed(event)
        self._account(fold.usage, fold.message().model or request.model)
        text = fold.message().text.strip()
        if not text:
            raise ModelError("cut", "The model gave no answer.", phase="stream")
        return text


def _settled_messages(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the history without a last answer whose calls have no results yet."""
    if not open_tool_uses(messages):
        return messages
    last = max(index for index, message in enumerate(messages) if message.role == "assistant")
    return messages[:last]
