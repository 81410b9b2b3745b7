"""What is recorded while one prompt of a headless run is worked on, for its result line."""

from __future__ import annotations

import time
from collections.abc import Mapping

from msgspec import Struct, field

from agent.events import ErrorEvent, Terminal, Usage
from agent.loop.answer_text import AnswerText


class PromptRun(Struct):
    """The events of one prompt, as far as its result needs them."""

    sender_id: str = ""
    """The sender's id of the prompt."""
    origin: Mapping[str, object] | None = None
    """Who wrote the prompt, as its sender states; repeated in the result."""
    start_time: float = field(default_factory=time.monotonic)
    answer: AnswerText = field(default_factory=AnswerText)
    denials: list[dict[str, object]] = field(default_factory=list)
    denied_without_user: bool = False
    asked_ids: set[str] = field(default_factory=set)
    failure: ErrorEvent | None = None
    notices: list[str] = field(default_factory=list)
    hook_notices: set[str] = field(default_factory=set)
    """Notices of hooks that were written already."""
    asked_at: float | None = None
    """When the current request was sent; None between requests."""
    api_s: float = 0.0
    """Time spent waiting for the model."""
    usages: dict[str, Usage] = field(default_factory=dict)
    """Usage by message uid, of responses whose message is not committed yet."""
    usage: Usage = Usage()
    """Of all responses so far."""
    stop_reason: str | None = None
    """Stop reason of the model's last response."""
    terminal: Terminal | None = None
