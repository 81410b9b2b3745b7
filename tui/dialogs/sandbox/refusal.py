"""The question after the sandbox refused a command an access: allow it, keep it, or stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from agent.sandbox.policy import NOT_RUN
from agent.sandbox.refusal_request import RefusalAnswer, RefusalRequest
from agent.tools.shell.refused_note import refusal_line
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, row
from tui.text.wrap import wrap

_COMMAND_ROWS: Final = 3
_REFUSAL_ROWS: Final = 4
_RAN: Final = "It ran and may have done part of its work."


def refusal_dialog(request: RefusalRequest) -> ChoiceDialog[RefusalAnswer]:
    """Return the question about one command."""
    return ChoiceDialog(
        "The sandbox refused a command", _body(request), "What now?", _answers(request)
    )


def _answers(request: RefusalRequest) -> list[tuple[Choice, RefusalAnswer]]:
    answers: list[tuple[Choice, RefusalAnswer]] = []
    if request.directories:
        names = ", ".join(map(reveal, request.directories))
        label = "Allow writing there for this session, and run it again"
        answers.append((Choice(label, "", names), RefusalAnswer.DIRECTORIES))
    if request.hosts:
        names = ", ".join(map(reveal, request.hosts))
        label = "Allow the host for this session, and run it again"
        answers.append((Choice(label, "", names), RefusalAnswer.HOSTS))
    if request.may_leave:
        label = "Run it once outside the sandbox"
        answers.append((Choice(label, "no limits apply there"), RefusalAnswer.OUTSIDE))
    return [*answers, (Choice("No"), RefusalAnswer.NO)]


def _body(request: RefusalRequest) -> Callable[[int], Sequence[Row]]:
    is_unrun = any(one.rule == NOT_RUN for one in request.refusals)

    def rows(width: int) -> list[Row]:
        command = _at_most(wrap([(reveal(request.command), Ink(Role.CODE))], width), _COMMAND_ROWS)
        refusal_rows = [
            line
            for one in request.refusals
            for line in wrap([(reveal(refusal_line(one)), TEXT)], width)
        ]
        return [
            *command,
            BLANK,
            *_at_most(refusal_rows, _REFUSAL_ROWS),
            *([] if is_unrun else wrap([(_RAN, MUTED)], width)),
        ]

    return rows


def _at_most(rows: list[Row], limit: int) -> list[Row]:
    return rows if len(rows) <= limit else [*rows[: limit - 1], row(("…", MUTED))]
