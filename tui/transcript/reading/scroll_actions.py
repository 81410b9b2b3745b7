"""What the `scroll:` actions do to a transcript, wherever its keys are heard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from tui.transcript.widget import TranscriptWidget


def scroll_actions(transcript: TranscriptWidget) -> Mapping[str, Callable[[], None]]:
    """Return the actions by their ids."""
    return {
        "scroll:lineUp": partial(transcript.scroll_rows, -1),
        "scroll:lineDown": partial(transcript.scroll_rows, 1),
        "scroll:pageUp": partial(transcript.scroll_pages, -1.0),
        "scroll:pageDown": partial(transcript.scroll_pages, 1.0),
        "scroll:fullPageUp": partial(transcript.scroll_pages, -1.0),
        "scroll:fullPageDown": partial(transcript.scroll_pages, 1.0),
        "scroll:halfPageUp": partial(transcript.scroll_pages, -0.5),
        "scroll:halfPageDown": partial(transcript.scroll_pages, 0.5),
        "scroll:top": transcript.to_start,
        "scroll:bottom": transcript.to_end,
    }
