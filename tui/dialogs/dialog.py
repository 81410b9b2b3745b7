"""The protocol of dialogs: state that handles keys and returns rows, independent of Textual.

`DialogHost` (module `host`) shows one at a time and owns the keyboard while it does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, Generic, Protocol, TypeVar

from msgspec import Struct, field

from tui.input.actions import Context
from tui.text.styled_rows import Row, Run

AnswerT = TypeVar("AnswerT")
_ReturnT = TypeVar("_ReturnT", covariant=True)
_ASKED_CELLS: Final = 100


class FooterRow(Struct, frozen=True):
    """A row that is always visible: an answer, its comment field, a hint."""

    row: Row
    choice: int | None = None
    """The choice that a click on the row makes; None: no choice."""
    is_selected: bool = False
    """Whether it stays visible even if not all answers fit."""
    caret_cells: int | None = None
    """Column of the text cursor, if the row is a field being edited."""
    is_optional: bool = False
    """Whether it is left out if the screen is too low for everything."""
    is_detail: bool = False
    """Whether it is detail of an unselected answer: left out if the body would have to scroll."""


class DialogView(Struct, frozen=True):
    """A dialog at one width: title, a body that scrolls, answers that do not.

    From top to bottom: `title`, `body`, `pinned_rows`, `footer`.
    """

    title: tuple[Run, ...]
    body: Sequence[Row]
    footer: Sequence[FooterRow]
    body_id: str = ""
    """Identifies the body: a body with another id is shown from its top."""
    pinned_rows: Sequence[Row] = ()
    """The end of the body, which stays visible while the rest scrolls."""
    first_row: int = 0
    """The most important row of the body: visible when another body is shown."""
    follows_end: bool = False
    """Whether to show the end of the body, also while it grows, until the user scrolls up."""
    rows_in_front: int = 0
    """Number of rows added before the body since it was shown; it keeps its scroll position."""
    in_lines: str = ""
    """Hint about input in the screen reader mode; empty: a number, a comment, or esc."""


class Dialog(Protocol):
    """One open dialog.

    It may also have an attribute `key_handling`; a method `changes_to`, which takes a callback that
    draws it again, if it changes without a key; and `turn_wheel`, if the mouse wheel does not
    scroll its body.
    """

    @property
    def is_done(self) -> bool:
        """Whether it is answered, or its caller no longer waits for an answer."""
        ...

    def view(self, width_cells: int) -> DialogView:
        """Return what to show at a width; must not change the dialog."""
        ...

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: its name, the text that it types, and the action bound to it, if any."""
        ...

    def paste(self, text: str) -> None:
        """Handle pasted text."""
        ...

    def choose(self, choice: int) -> None:
        """Handle a click on an answer."""
        ...


class AnsweredDialog(Dialog, Protocol[_ReturnT]):
    """A dialog that returns an answer."""

    async def wait(self) -> _ReturnT:
        """Return the answer once it is given."""
        ...


class ShowDialog(Protocol):
    """Shows a dialog until it is answered or the caller is cancelled."""

    async def __call__(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        """Return the answer."""
        ...


class KeyHandling(Struct, frozen=True):
    """How a dialog handles keys; the defaults are those of a question.

    A dialog provides it as an attribute `key_handling`.
    """

    contexts: tuple[Context, ...] = (Context.CONFIRMATION,)
    """Contexts in which its actions are bound, innermost first."""
    is_guarded: bool = True
    """Whether keys right after opening go to the prompt; False if the user opened the dialog."""
    steps_aside: bool = False
    """Whether a dialog that opens later is shown first, because this one only shows something."""
    has_pages: bool = False
    """Whether it handles the keys for pages, start and end itself."""
    scroll_keys: Mapping[str, int] = field(default_factory=dict)
    """Additional keys that scroll its body, with the number of rows."""


QUESTION: Final = KeyHandling()


def key_handling_of(dialog: Dialog) -> KeyHandling:
    """Return how a dialog handles its keys."""
    key_handling = getattr(dialog, "key_handling", QUESTION)
    return key_handling if isinstance(key_handling, KeyHandling) else QUESTION


def question_of(dialog: Dialog) -> int:
    """Return the number of the question that a dialog asks; it changes with the question.

    A dialog that changes its question provides an attribute `question_number`.
    """
    number = getattr(dialog, "question_number", 0)
    return number if isinstance(number, int) else 0


def notification_text_of(dialog: Dialog) -> str:
    """Return a dialog's title and the first line of its body, for a notification."""
    view = dialog.view(_ASKED_CELLS)
    title = "".join(text for text, _ in view.title)
    subject = next((line.text.strip() for line in view.body if line.text.strip()), "")
    return f"{title} {subject}".strip()


def ignored_key_count(dialog: Dialog) -> int:
    """Return how many keys a dialog has ignored so far.

    A dialog that a stray letter could answer counts them in an attribute `ignored_keys`.
    """
    key_count = getattr(dialog, "ignored_keys", 0)
    return key_count if isinstance(key_count, int) else 0


def give_height(dialog: Dialog, height_rows: int) -> None:
    """Pass the number of rows to a dialog that has a method `take_height`.

    Lists show more rows in a high dialog.
    """
    take = getattr(dialog, "take_height", None)
    if take is not None:
        take(height_rows)


class GivesAnswer(Generic[AnswerT]):
    """Base class of dialogs that give one answer."""

    def __init__(self) -> None:
        """Create the answer's future; requires a running event loop."""
        self._future: asyncio.Future[AnswerT] = asyncio.get_running_loop().create_future()

    @property
    def is_done(self) -> bool:
        """Whether the answer was given, or waiting for it was cancelled."""
        return self._future.done()

    def give(self, answer: AnswerT) -> None:
        """Give the answer; a second one is ignored."""
        if not self._future.done():
            self._future.set_result(answer)

    async def wait(self) -> AnswerT:
        """Return the answer once it is given; cancelling this makes the dialog done."""
        return await self._future


@asynccontextmanager
async def run_alongside(work: Coroutine[object, object, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Run `work` as a task, which is yielded; at the end of the block cancel it and wait for it."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
