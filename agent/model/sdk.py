"""The SDK: imported when first needed, in whichever thread needs it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Final

from agent.model.lazy_packages import install

if TYPE_CHECKING:
    from types import ModuleType

_NEEDED: Final = (
    "AsyncAnthropic",
    "AsyncStream",
    "APIStatusError",
    "APIConnectionError",
    "Omit",
)


class _State:
    """What is known of the SDK in this process."""

    module: ModuleType | None = None
    waiting: ClassVar[list[Callable[[], None]]] = []
    lock: ClassVar[threading.Lock] = threading.Lock()


def preload(then: Callable[[], None] | None = None) -> threading.Thread:
    """Start to import the SDK in a thread, so that a request need not wait for it.

    `then` is called in that thread when the import has ended, well or not.
    """
    if then is not None:
        when_loaded(then)
    thread = threading.Thread(target=load_sdk, name="sdk-import", daemon=True)
    thread.start()
    return thread


def when_loaded(then: Callable[[], None]) -> None:
    """Call `then` once the import has ended, well or not; in the thread that imported."""
    with _State.lock:
        _State.waiting.append(then)


def loaded_sdk() -> ModuleType | None:
    """Return the SDK if it is there already."""
    return _State.module


def load_sdk() -> ModuleType:
    """Import the SDK and return it."""
    try:
        # More than half of the import's time and memory are for names that no request asks for.
        install("anthropic")
        import anthropic  # still a third of a second: only when a request is near

        # Here rather than where they are used, which is on the event loop.
        for name in _NEEDED:
            getattr(anthropic, name)
        # Its one-line warnings would go to the terminal, over the screen.
        logging.getLogger("anthropic").setLevel(logging.ERROR)
        _State.module = anthropic
        return anthropic
    finally:
        with _State.lock:
            waiting, _State.waiting[:] = list(_State.waiting), []
        for each in waiting:
            each()
