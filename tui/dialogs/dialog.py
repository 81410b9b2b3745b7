"""What every dialog is: a state that takes keys and shows rows, without a toolkit.

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
    """What a click on it chooses; None: nothing."""
    is_selected: bool = False
    """Stays visible when even the answers do not fit."""
    caret_cells: int | None = None
    """Column of the text cursor, where this row is a field being edited."""
    is_optional: bool = False
    """Left out where the screen is too low for everything."""
    is_detail: bool = False
    """More about an answer that is not the selected one: left out where the rest would scroll."""


class DialogView(Struct, frozen=True):
    """A dialog at one width: title, a body that scrolls, answers that do not.

    Read from top to bottom it is title, `body`, `pinned`, `footer`.
    """

    title: tuple[Run, ...]
    body: Sequence[Row]
    footer: Sequence[FooterRow]
    body_id: str = ""
    """Which body this is: another one is shown from its top."""
    pinned_rows: Sequence[Row] = ()
    """The end of the body: stays in sight below the rest of it where that has to scroll."""
    first_row: int = 0
    """The row of the body that matters: in sight when another body is shown."""
    follows_end: bool = False
    """Whether its end is shown first, and followed while it grows, until the user scrolls up."""
    rows_in_front: int = 0
    """Rows that were put in front of the body since it was first shown: it stays where it is."""
    in_lines: str = ""
    """What can be typed where it is read out in lines; empty: a number, a comment, or esc."""


class Dialog(Protocol):
    """One open dialog.

    It may have `manners` as well, and a method `changes_to` that takes what draws it again: for
    those that change without a key; and `turn_wheel`, where the wheel does not scroll its body.
    """

    @property
    def is_done(self) -> bool:
        """Whether it has its answer, or nothing waits for one any more."""
        ...

    def view(self, width_cells: int) -> DialogView:
        """Return what to show; must not change anything."""
        ...

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Take a key: its name, what it types, and the action bound to it, if any."""
        ...

    def paste(self, text: str) -> None:
        """Take pasted text."""
        ...

    def choose(self, choice: int) -> None:
        """Take a click on an answer."""
        ...


class AnsweredDialog(Dialog, Protocol[_ReturnT]):
    """A dialog that returns an answer."""

    async def wait(self) -> _ReturnT:
        """Return it."""
        ...


class ShowDialog(Protocol):
    """Shows a dialog until it is answered, or the wait for it is cancelled."""

    async def __call__(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        """Return the answer."""
        ...


class Manners(Struct, frozen=True):
    """How a dialog handles keys; the default is how a question does.

    A dialog provides it as an attribute `manners`.
    """

    contexts: tuple[Context, ...] = (Context.CONFIRMATION,)
    """Where its actions are bound, innermost first."""
    is_guarded: bool = True
    """Whether keys of the first moment are left-overs of typing: not where the user opened it."""
    steps_aside: bool = False
    """A dialog that opens meanwhile goes first: it asks, and this one only shows."""
    has_pages: bool = False
    """Whether the keys that go by pages, to the start and to the end, are its own."""
    scroll_keys: Mapping[str, int] = field(default_factory=dict)
    """Keys that scroll its body, with the rows they scroll by, beside the usual ones."""


QUESTION: Final = Manners()


def manners_of(dialog: Dialog) -> Manners:
    """Return how a dialog handles its keys."""
    manners = getattr(dialog, "manners", QUESTION)
    return manners if isinstance(manners, Manners) else QUESTION


def question_of(dialog: Dialog) -> int:
    """Return which question a dialog asks: another number is another question.

    A dialog that changes its question provides an attribute `question_number`.
    """
    number = getattr(dialog, "question_number", 0)
    return number if isinstance(number, int) else 0


def asked_by(dialog: Dialog) -> str:
    """Return what a dialog asks, and about what, in one line: for a notification."""
    view = dialog.view(_ASKED_CELLS)
    title = "".join(text for text, _ in view.title)
    subject = next((line.text.strip() for line in view.body if line.text.strip()), "")
    return f"{title} {subject}".strip()


def ignored_by(dialog: Dialog) -> int:
    """Return how many keys a dialog ignored so far.

    One that a stray letter could answer counts them in an attribute `ignored_keys`.
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
    """The part of a dialog that gives its answer: once, to what opened it."""

    def __init__(self) -> None:
        """Wait in the running loop."""
        self._future: asyncio.Future[AnswerT] = asyncio.get_running_loop().create_future()

    @property
    def is_done(self) -> bool:
        """Whether the answer is set or was cancelled."""
        return self._future.done()

    def give(self, answer: AnswerT) -> None:
        """Answer; a second answer is ignored."""
        if not self._future.done():
            self._future.set_result(answer)

    async def wait(self) -> AnswerT:
        """Return the answer; cancelling the waiter closes the dialog."""
        return await self._future


@asynccontextmanager
async def run_alongside(work: Coroutine[object, object, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Run `work` while the block runs, then cancel it and wait for its end; yield its task."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})
