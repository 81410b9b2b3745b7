"""The permission dialog: what will run, why it asks, and what each answer would store.

Source: safety-and-permissions, interactive handler; a prompt shows the whole command, and makes
invisible characters visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.display import Display
from agent.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    Reason,
    ReasonType,
)
from permissions.request import PermissionRequest
from tui.dialogs.choices import Choice, ChoiceList, Chosen
from tui.dialogs.dialog import Answered, DialogView, FooterRow
from tui.dialogs.permission_rows import (
    INDENT,
    PAD,
    effect_rows,
    part_rows,
    question_of,
    subject_rows,
    title_runs,
    trace_rows,
    why_rows,
)
from tui.dialogs.revision import EditText, Revision
from tui.dialogs.together import Waiting, fitting, waiting_rows
from tui.screen.width import text_width
from tui.shown import shown_display
from tui.text.highlight import Highlighter
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, row
from tui.text.wrap import wrap


@dataclass(frozen=True, slots=True)
class GrantOffer:
    """An answer that also stores rules."""

    label: str
    """Continues "Yes, and …"."""
    choice: GrantChoice
    also_allows: str = ""
    """What else the rules cover, in words; empty when it is obvious."""


@dataclass(frozen=True, slots=True)
class PermissionAsk:
    """Everything the dialog shows."""

    request: PermissionRequest
    pending: Decision
    display: Display | None = None
    offers: tuple[GrantOffer, ...] = ()
    session_edits: bool = False
    """Whether Shift+Tab may pick the offer that covers all edits of the session."""


class PermissionDialog:
    """Asks about one call."""

    def __init__(
        self,
        ask: PermissionAsk,
        highlighter: Highlighter,
        edit_text: EditText | None = None,
        others: Callable[[], Sequence[Waiting]] = tuple,
    ) -> None:
        """Open with "Yes" selected and nothing typed.

        `edit_text` is the person's editor; `others` returns the questions behind this one.
        """
        self._others = others
        self._shown_together: list[Waiting] = []
        request = ask.request
        self._revision = Revision(
            request.tool, request.tool_input, ask.display, highlighter, edit_text
        )
        ask = replace(ask, display=shown_display(ask.display))
        self._ask = ask
        self._highlighter = highlighter
        self._is_traced = False
        self._answered: Answered[Decision] = Answered()
        self._choices = ChoiceList(_choices(ask))

    @property
    def is_done(self) -> bool:
        """Whether the person, or somebody faster, has decided."""
        return self._answered.is_done

    async def wait(self) -> Decision:
        """Return the person's decision."""
        return await self._answered.wait()

    def give(self, decision: Decision) -> None:
        """Take an answer that was given to several questions at once."""
        if not self.is_done:
            self._answered.give(decision)

    # Keys

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Choose, move, comment, or show the trace."""
        choices = self._choices
        if self._revision.is_choosing:
            if self._revision.press(key, action_id):
                self._decide(choices.chosen(0))
            return
        if choices.is_commenting and self._press_in_comment(key, text, action_id):
            return
        if key.isdigit() and 0 < int(key) <= len(choices.choices):
            choices.select(int(key) - 1)
            self._decide(choices.chosen())
            return
        if key == "a" and self._shown_together:
            self._answer_all()
            return
        match action_id:
            case "confirm:yes":
                self._decide(choices.chosen(0) if key == "y" else choices.chosen())
            case "confirm:no":
                self._decide(Chosen(len(choices.choices) - 1, ""))
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case "confirm:nextField":
                choices.open_comment()
            case "confirm:cycleMode" if self._ask.session_edits and self._ask.offers:
                self._decide(choices.chosen(1))
            case "permission:toggleDebug" | "confirm:toggleExplanation":
                self._is_traced = not self._is_traced
            case "confirm:chooseParts":
                self._revision.begin_choosing()
            case "confirm:edit":
                self._revision.edit()
                self._show_revision()
            case _:
                pass

    def paste(self, text: str) -> None:
        """Paste into the comment."""
        self._choices.paste(text)

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._revision.is_choosing:
            self._revision.choose(choice)
        elif choice == _ALL:
            self._answer_all()
        elif self._choices.selected == choice and not self._choices.is_commenting:
            self._decide(self._choices.chosen())
        else:
            self._choices.select(choice)

    def _press_in_comment(self, key: str, text: str, action_id: str | None) -> bool:
        if key == "enter":
            self._decide(self._choices.chosen())
        elif key in ("tab", "escape"):
            self._choices.is_commenting = False
        elif key in ("up", "down"):
            return False
        elif not self._choices.type(key, text):
            return action_id == "confirm:no"
        return True

    def _answer_all(self) -> None:
        """Say yes, this once, to this call and to those that were shown with it."""
        together, self._shown_together = self._shown_together, []
        decision = _decision(self._ask, Chosen(0, ""))
        for other in together:
            other.answer(decision)
        self._decide(Chosen(0, ""))

    def _decide(self, chosen: Chosen) -> None:
        decision = _decision(self._ask, chosen)
        if self._revision.is_changed and decision.behavior is Behavior.ALLOW:
            decision = replace(decision, updated_input=dict(self._revision.tool_input))
        self._answered.give(decision)

    def _show_revision(self) -> None:
        """Show the call as the person changed it; the verdicts on its parts were on the old one."""
        revision, ask = self._revision, self._ask
        if revision.is_changed:
            # What could be stored was offered for the old call.
            self._ask = replace(
                ask,
                offers=(),
                session_edits=False,
                request=replace(ask.request, tool_input=revision.tool_input),
                display=shown_display(revision.display),
                pending=replace(ask.pending, parts=(), effects=(), message=_CHANGED),
            )
            self._choices = ChoiceList(_choices(self._ask))

    # Rows

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        ask = self._ask
        if self._revision.is_choosing:
            return self._revision.view(title_runs(ask.request, ask.display), width_cells)
        width = max(1, width_cells - INDENT - 1)
        body: list[Row] = [*subject_rows(ask.request, ask.display, width_cells, self._highlighter)]
        if len(ask.pending.parts) > 1:
            body.append(BLANK)
            body.extend(part_rows(ask.pending.parts, width))
        body.append(BLANK)
        body.extend(effect_rows(ask.pending, width))
        body.extend(why_rows(ask.pending, width))
        if self._is_traced:
            body.append(BLANK)
            body.extend(trace_rows(ask.pending.trace, width))
        self._shown_together = fitting(ask.request, ask.pending, self._others(), width)
        if self._revision.is_changed:
            self._shown_together = []
        if self._shown_together:
            body.append(BLANK)
            body.extend(waiting_rows(self._shown_together, width, INDENT))
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(PAD[0], (question_of(ask.request), Ink(bold=True)))),
            *self._choices.rows(width_cells),
            *self._all_row(),
            FooterRow(BLANK, is_optional=True),
            FooterRow(self._hint(width_cells), is_optional=True),
        ]
        return DialogView(title_runs(ask.request, ask.display), body, footer)

    def _all_row(self) -> list[FooterRow]:
        if not self._shown_together:
            return []
        count = len(self._shown_together) + 1
        return [FooterRow(row(PAD[0], (f"a. Yes, to these {count}, this once", TEXT)), _ALL)]

    def _hint(self, width_cells: int) -> Row:
        room = width_cells - INDENT - 1
        if self._choices.is_commenting:
            keys = "enter sends the answer with the comment · tab closes it"
        else:
            keys = self._keys_that_fit(room)
        return Row((PAD[0], *wrap([(keys, MUTED)], room)[0].runs))

    def _keys_that_fit(self, room: int) -> str:
        """Return the keys on one line; what people find without a hint goes first."""
        trace = "less" if self._is_traced else "trace"
        full = "less" if self._is_traced else "full trace"
        parts = " · h hunks" if self._revision.has_parts else ""
        edit = " · ctrl+g edit" if self._revision.can_edit else ""
        forms = (
            f"{parts}{edit} · ctrl+y {full} · pgup/pgdn scroll",
            f"{parts}{edit} · ctrl+y {full}",
            f"{parts}{edit} · ctrl+y {trace}",
            f"{parts} · ctrl+y {trace}",
        )
        lines = [f"↑↓ enter · tab comment{form} · esc no" for form in forms]
        return next((line for line in lines if text_width(line) <= room), lines[-1])


def _choices(ask: PermissionAsk) -> list[Choice]:
    yes = Choice("Yes", comment_hint="and tell the model…")
    no = Choice("No", "ends the turn", comment_hint="and tell the model what to do instead…")
    return [yes, *(Choice(f"Yes, and {o.label}", _stores(o)) for o in ask.offers), no]


def _stores(offer: GrantOffer) -> str:
    rules = ", ".join(reveal(rule) for rule in offer.choice.rules)
    where = _DESTINATIONS.get(offer.choice.destination, offer.choice.destination)
    stores = f"stores {rules} in {where}" if rules else where
    return f"{stores}; also allows {offer.also_allows}" if offer.also_allows else stores


def _decision(ask: PermissionAsk, chosen: Chosen) -> Decision:
    is_no = chosen.index == len(ask.offers) + 1
    offer = ask.offers[chosen.index - 1] if 0 < chosen.index <= len(ask.offers) else None
    comment = chosen.comment or None
    if is_no:
        message = "The person said no"
    else:
        message = "Allowed by the person"
    return Decision(
        behavior=Behavior.DENY if is_no else Behavior.ALLOW,
        source=DecisionSource.USER,
        reason_type=ReasonType.USER,
        reason=Reason.USER,
        message=message,
        feedback=comment,
        interrupt=is_no and comment is None,
        grant=offer.choice if offer is not None else None,
    )


_ALL: Final = 1_000
"""The choice that answers several questions; no list of answers is as long."""
_CHANGED: Final = "You changed it: rules are asked once more before it runs."
_DESTINATIONS: Final = {
    "session": "this session",
    "localSettings": ".agent/settings.local.json",
    "projectSettings": ".agent/settings.json",
    "userSettings": "~/.agent/settings.json",
}
