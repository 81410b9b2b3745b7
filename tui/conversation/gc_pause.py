"""Pauses garbage collection during the start: objects created by imports stay alive anyway.

Collecting would take a seventh of the time to the first request, with pauses of 100 ms in which
keys are not echoed.
"""

from __future__ import annotations

import gc


def pause_collection() -> None:
    """Turn off garbage collection until `resume_collection`."""
    gc.disable()


def resume_collection() -> None:
    """Turn on garbage collection, but exclude all current objects; callable from any thread."""
    gc.freeze()
    gc.enable()
