"""Token counts parsed from overflow errors, and the `max_tokens` that would have fitted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.model.client import ModelRequest

MIN_OUTPUT_TOKENS: Final = 3_000
"""Less room than this makes an answer too short to be of use (error-recovery)."""

MARGIN_TOKENS: Final = 1_000
"""Left free, because the endpoint's count of the next request differs a little."""

GROWTH: Final = 1.25
"""Most tokens that an endpoint counts for one estimated token."""


class ContextOverflow(Struct, frozen=True):
    """The prompt, or the prompt with its answer, does not fit."""

    input_tokens: int | None = None
    limit_tokens: int | None = None
    """Limit for prompt and answer together. Both are None if the error had no numbers."""

    def fitting_max_tokens(self) -> int | None:
        """Return a `max_tokens` that fits; None if the room is too small or unknown, so that the
        prompt must be shortened."""
        if self.input_tokens is None or self.limit_tokens is None:
            return None
        room = self.limit_tokens - self.input_tokens - MARGIN_TOKENS
        return room if room >= MIN_OUTPUT_TOKENS else None


class AnswerRoom:
    """The largest `max_tokens` that fits beside a prompt, by model, as learned from errors."""

    def __init__(
        self,
        prompt_tokens: Callable[[ModelRequest], int],
        rooms: Mapping[str, tuple[int, int]] | None = None,
    ) -> None:
        """`prompt_tokens` estimates a request's messages; only the growth of this estimate is
        used. `rooms` restores those of a resumed session."""
        self._prompt_tokens = prompt_tokens
        self.rooms = dict(rooms or {})
        """By model: the estimate of a prompt, and the `max_tokens` that fits beside it."""

    def note(self, request: ModelRequest) -> None:
        """Store the `max_tokens` of a request as the most that fits beside its messages."""
        self.rooms[request.model] = self._prompt_tokens(request), request.max_tokens

    def fit(self, request: ModelRequest) -> ModelRequest:
        """Return the request with `max_tokens` reduced to what its messages leave.

        If that is too little for an answer, it is unchanged: the endpoint rejects the request, and
        the prompt is shortened.
        """
        room_then = self.rooms.get(request.model)
        if room_then is None:
            return request
        tokens_then, room = room_then
        room -= int((self._prompt_tokens(request) - tokens_then) * GROWTH)
        most = room if room >= MIN_OUTPUT_TOKENS else request.max_tokens
        return replace(request, max_tokens=min(request.max_tokens, most))


def parse_overflow(message: str) -> ContextOverflow | None:
    """Return the overflow that an error text describes; None for other errors."""
    text = re.sub(r"(?<=\d)[,_](?=\d{3})", "", message[:4000])
    for pattern in _NUMBERED:
        if match := re.search(pattern, text, re.IGNORECASE):
            numbers = match.groupdict()
            return ContextOverflow(int(numbers["input"]), int(numbers["limit"]))
    for pattern in _WITHOUT_NUMBERS:
        if re.search(pattern, text, re.IGNORECASE):
            return ContextOverflow()
    return None


def parse_output_limit(message: str) -> int | None:
    """Return the model's output limit from an error about a `max_tokens` above it, else None."""
    match = re.search(r"max_tokens:? *\d+ *> *(\d+), which is the maximum", message)
    return int(match[1]) if match and int(match[1]) > 0 else None


_NUMBERED: Final = (
    r"exceed context limit: *(?P<input>\d+) *\+ *\d+ *> *(?P<limit>\d+)",
    r"prompt is too long: *(?P<input>\d+) *tokens *> *(?P<limit>\d+)",
    r"maximum context length is (?P<limit>\d+) tokens.{0,120}?\((?P<input>\d+) in the messages",
    r"maximum context length is (?P<limit>\d+) tokens.{0,120}?"
    r"(?:your )?(?:messages|request) (?:resulted in|has) (?P<input>\d+)",
    r"input token count \((?P<input>\d+)\) exceeds the maximum number of tokens allowed "
    r"\((?P<limit>\d+)",
    r"request \((?P<input>\d+) tokens\) exceeds the available context size \((?P<limit>\d+)",
)

_WITHOUT_NUMBERS: Final = (
    r"prompt is too long",
    r"exceeds? (?:the )?(?:available )?context",
    r"context[ _](?:length|window|limit)[ _]exceeded",
    r"maximum context length",
    r"input is too long",
)
