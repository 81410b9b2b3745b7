"""The question, asked at the first fact, whether facts are stored for later sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.styled_rows import TEXT, Row
from tui.text.wrap import wrap

_TEXT: Final = (
    "This turn may contain a correction, preference or decision for later sessions. After such "
    "turns the model can store it in ~/.agent/memory, in up to five short requests that reuse the "
    "conversation's cache. /memory shows and edits what is stored."
)


def keep_facts_dialog() -> ChoiceDialog[bool | None]:
    """Return the dialog; its answer is None if the user decides later."""
    return ChoiceDialog(
        "Memory",
        _body,
        "Remember facts for later sessions?",
        [
            (Choice("Yes, in every project"), True),
            (Choice("No, do not ask again"), False),
            (Choice("Not in this session"), None),
        ],
    )


def _body(width: int) -> Sequence[Row]:
    return wrap([(_TEXT, TEXT)], width)
