"""Notes that precede a prompt: those at the start of a conversation, and changes since then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agent.prompt.prompt_context import PromptContext
from agent.prompt.section_registry import SectionRegistry
from agent.prompt.sections import date_text, mode_note
from agent.prompt.system import note, opening_notes


class PromptReminders:
    """Compares the current state with the last notes to the model. Each change gets one note."""

    def __init__(
        self,
        context: Callable[[], PromptContext],
        registry: SectionRegistry,
        *,
        is_resumed: bool = False,
        last_mode: str | None = None,
        notes: Callable[[bool], Sequence[str]] = lambda _: (),
    ) -> None:
        """Compare with the state at the start.

        Args:
            context: returns the current state.
            registry: the sections, whose volatile ones open a conversation.
            is_resumed: whether the model has notes of an earlier run.
            last_mode: the mode a resumed history ended in.
            notes: returns further notes for the model; its argument is True for an opening.
        """
        self._notes = notes
        self._context = context
        self._registry = registry
        self._last_mode = last_mode or "default"
        self._last_date = None if is_resumed else context().today
        self._later: list[str] = []

    def first(self) -> Sequence[str]:
        """Return the notes that open a conversation."""
        context = self._context()
        self._remember(context)
        opening = (*opening_notes(context, self._registry), *self._notes(True))
        return [note(text) for text in opening]

    def before_prompt(self) -> Sequence[str]:
        """Return notes on changes since the last notes; usually none."""
        context = self._context()
        notes = [*self._later, *self._notes(False)]
        self._later.clear()
        if context.mode != self._last_mode:
            notes.append(mode_note(context.mode))
        if context.today != self._last_date:
            notes.append(date_text(context))
        self._remember(context)
        return [note(text) for text in notes]

    def add(self, text: str) -> None:
        """Add a note for the model before the next prompt."""
        self._later.append(text)

    def _remember(self, context: PromptContext) -> None:
        self._last_mode = context.mode
        self._last_date = context.today
