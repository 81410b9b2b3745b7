"""The permission dialog: what will run, the reason to ask, and what each answer would store.

Source: safety-and-permissions, interactive handler. The dialog shows the whole command, with
invisible characters made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from permissions.decision import (
    Behavior,
    Decision,
)
from themes.theme import Role
from tui.dialogs.batch_answer import WaitingQuestion, fitting, waiting_rows
from tui.dialogs.choices import ChoiceList, Chosen
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.dialogs.edited_call import EditedCall, EditText
from tui.dialogs.permission_ask import (
    JudgeAgain,
    PermissionAsk,
    answers_of,
    decision_of,
    is_barred,
    still_asked,
    without_judgement,
)
from tui.dialogs.permission_rows import (
    INDENT,
    PAD,
    effect_rows,
    needs_part_table,
    part_rows,
    subject_rows,
    title_runs,
    trace_rows,
    why_rows,
)
from tui.screen.width import text_width
from tui.text.highlight import Highlighter
from tui.text.safe_text import shown_display
from tui.text.sequence_view import SequenceView
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, indent_rows, row
from tui.text.wrap import wrap


class PermissionDialog(GivesAnswer[Decision]):
    """Asks about one call; the decision is a denial if the user accepts the sandbox offer."""

    def __init__(
        self,
        ask: PermissionAsk,
        highlighter: Highlighter,
        edit_text: EditText | None = None,
        others: Callable[[], Sequence[WaitingQuestion]] = tuple,
        judge: JudgeAgain | None = None,
        *,
        offers_inside: bool = False,
    ) -> None:
        """Open with "Yes" selected and nothing typed.

        `edit_text` is the user's editor; `others` returns the questions waiting behind this one;
        `judge` decides an edited call; `offers_inside` adds the offer to work inside the sandbox.
        """
        self.ignored_keys = 0
        self._offers_inside = offers_inside
        self.wants_inside = False
        """Whether the user accepted the sandbox offer: then this question must be asked again."""
        self._others = others
        self._judge = judge
        self._shown_together: list[WaitingQuestion] = []
        request = ask.request
        self._revision = EditedCall(
            request.tool, request.tool_input, ask.display, highlighter, edit_text
        )
        ask = replace(ask, display=shown_display(ask.display))
        self._proposal = self._ask = ask
        self._highlighter = highlighter
        self._is_traced = False
        super().__init__()
        self._choices = ChoiceList(answers_of(ask))
        self.question_number = 0
        """Number of the question: 0 for the proposed call, increased with each edit of it."""

    @property
    def typed_text(self) -> str:
        """Text that the user typed and did not submit: comments and an edited call."""
        comments = (self._choices.comment(i) for i in range(len(self._choices.choices)))
        return "\n".join(text for text in (*comments, self._revision.typed_text) if text)

    @property
    def edits(self) -> str:
        """The name of the part of the call that the user can edit, such as `command`."""
        return self._revision.what

    def revise(self, text: str) -> bool:
        """Replace the call's text; False if the new one cannot become a call."""
        is_taken = self._revision.revise(text)
        if is_taken:
            self._decide_revision()
        return is_taken

    # Keys

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: choose, move, comment, edit, or show the trace."""
        if self._press_in_part(key, text, action_id):
            return
        choices = self._choices
        if key.isdigit() and 0 < int(key) <= len(choices.choices):
            choices.select(int(key) - 1)
            self._confirm()
        elif key == "a" and self._shown_together:
            self._answer_all()
        elif key == "s" and self._offers_inside:
            self._accept_offer()
        elif action_id is not None and action_id.startswith(("confirm:edit", "confirm:choose")):
            self._change_call(action_id)
        elif action_id is None and key in ("left", "right"):
            self._turn_place(1 if key == "right" else -1)
        else:
            self._run_action(key, action_id)

    def _press_in_part(self, key: str, text: str, action_id: str | None) -> bool:
        """Pass the key to the choice of hunks, the editor or the comment field, if one is open."""
        if self._revision.is_choosing:
            if self._revision.press(key, action_id):
                self._decide(self._choices.chosen(0))
            return True
        if self._revision.is_editing:
            if self._revision.press_editing(key, text, action_id):
                self._decide_revision()
            return True
        return self._choices.is_commenting and self._press_in_comment(key, text, action_id)

    def _run_action(self, key: str, action_id: str | None) -> None:
        choices = self._choices
        match action_id:
            case "confirm:yes" if key == "y":
                if not is_barred(self._ask):
                    self._decide(choices.chosen(0))
            case "confirm:yes":
                self._confirm()
            case "confirm:no":
                self._decide(Chosen(self._stop, ""))
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case "confirm:nextField":
                if choices.selected_index == self._stop:
                    choices.select(self._stop + 1)
                choices.open_comment()
            case "confirm:cycleMode" if self._ask.session_edits and self._ask.offers:
                self._decide(choices.chosen(1))
            case "permission:toggleDebug" | "confirm:toggleExplanation":
                self._is_traced = not self._is_traced
            case _:
                self.ignored_keys += 1

    def _change_call(self, action_id: str) -> None:
        """Choose hunks of the change, or edit the call."""
        if action_id == "confirm:chooseParts" and self._revision.has_parts:
            self._revision.begin_choosing()
        elif action_id == "confirm:edit" and self._revision.has_editor:
            self._revision.edit()
            self._decide_revision()
        elif action_id in ("confirm:edit", "confirm:editHere"):
            self._revision.begin_editing()
            self._decide_revision()
        else:
            self.ignored_keys += 1

    def paste(self, text: str) -> None:
        """Paste into the comment, or into the call that is being edited."""
        if self._revision.is_editing:
            self._revision.paste(text)
        elif self._choices.is_commenting:
            self._choices.paste(text)
        else:
            self.ignored_keys += 1

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._revision.is_choosing:
            self._revision.choose(choice)
        elif self._revision.is_editing:
            pass
        elif choice == _ALL:
            self._answer_all()
        elif choice == _INSIDE:
            self._accept_offer()
        elif self._choices.selected_index == choice and not self._choices.is_commenting:
            self._confirm()
        else:
            self._choices.select(choice)

    def _press_in_comment(self, key: str, text: str, action_id: str | None) -> bool:
        if key == "enter":
            self._confirm()
        elif key in ("tab", "escape"):
            self._choices.is_commenting = False
        elif key in ("up", "down"):
            return False
        elif not self._choices.type(key, text):
            return action_id == "confirm:no"
        return True

    def _turn_place(self, step: int) -> None:
        """Switch the selected answer's rules to the next destination, if there are several."""
        ask, index = self._ask, self._choices.selected_index - 1
        if not 0 <= index < len(ask.offers) or not ask.offers[index].elsewhere:
            return
        offer = ask.offers[index]
        places = (replace(offer, elsewhere=()), *offer.elsewhere)
        next_places = (*places[step:], *places[:step])
        offer = replace(next_places[0], elsewhere=next_places[1:])
        self._ask = replace(ask, offers=(*ask.offers[:index], offer, *ask.offers[index + 1 :]))
        self._choices.choices = answers_of(self._ask)

    def _accept_offer(self) -> None:
        self.wants_inside = True
        self._decide(Chosen(self._stop, ""))

    def _answer_all(self) -> None:
        """Allow this call and those shown with it once."""
        together, self._shown_together = self._shown_together, []
        decision = decision_of(self._ask, Chosen(0, ""))
        for other in together:
            other.answer(decision)
        self._decide(Chosen(0, ""))

    def _confirm(self) -> None:
        """Give the selected answer, or open its comment field if a required comment is missing."""
        if not self._choices.waits_for_comment:
            self._decide(self._choices.chosen())
        elif not self._choices.is_commenting:
            self._choices.open_comment()

    @property
    def _stop(self) -> int:
        """Index of the answer that denies the call and ends the turn."""
        return len(self._choices.choices) - 2

    def _decide(self, chosen: Chosen) -> None:
        decision = decision_of(self._ask, chosen)
        if self._revision.is_changed and decision.behavior is Behavior.ALLOW:
            decision = replace(decision, updated_input=dict(self._revision.tool_input))
        self.give(decision)

    def _decide_revision(self) -> None:
        """Decide the edited call and show the result; allow it at once if the rules do."""
        revision, old_ask = self._revision, self._ask
        if revision.tool_input == old_ask.request.tool_input:
            return
        if not revision.is_changed:
            self._ask = self._proposal
        else:
            request = replace(self._proposal.request, tool_input=revision.tool_input)
            new_verdict = self._judge(request) if self._judge is not None else None
            new_ask = without_judgement(self._proposal)
            if new_verdict is not None:
                new_ask = still_asked(new_verdict, self._proposal)
            self._ask = replace(
                new_ask,
                request=request,
                display=shown_display(revision.display),
            )
        self.question_number += 1
        comments = self._choices
        self._choices = ChoiceList(answers_of(self._ask))
        self._choices.take_comments(comments)
        if self._ask.pending.behavior is Behavior.ALLOW:
            self._decide(self._choices.chosen(0))

    # Rows

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        ask = self._ask
        if self._revision.is_choosing:
            return self._revision.view(
                title_runs(ask.request, ask.display, ask.pending), width_cells
            )
        if self._revision.is_editing:
            return self._revision.edit_view(
                title_runs(ask.request, ask.display, ask.pending), width_cells
            )
        width = max(1, width_cells - INDENT - 1)
        subject = subject_rows(ask.request, ask.display, width_cells, self._highlighter)
        more: list[Row] = []
        # Effects and reason stay visible, however long the command or the change is.
        pinned_rows = [*effect_rows(ask.pending, width), *why_rows(ask.pending, width, ask.short)]
        if needs_part_table(ask.pending):
            more.extend([BLANK, *part_rows(ask.pending, width, ask.short)])
        else:
            pinned_rows.insert(0, BLANK)
        if self._is_traced:
            more, pinned_rows = [*more, *pinned_rows, BLANK], []
        trace_at = len(subject) + len(more)
        if self._is_traced:
            more.extend(trace_rows(ask.pending, width, ask.short))
        self._shown_together = fitting(ask.request, ask.pending, self._others(), width)
        if self._revision.is_changed:
            self._shown_together = []
        if self._shown_together:
            more.extend([BLANK, *waiting_rows(self._shown_together, width, INDENT)])
        # With the additional line of the offer, save a row for the transcript.
        gap = [] if self._offers_inside else [FooterRow(BLANK, is_optional=True)]
        footer = [
            *gap,
            *self._problem_rows(width),
            *self._choices.rows(width_cells),
            *self._all_row(),
            *self._sandbox_offer_rows(),
            FooterRow(self._hint(width_cells), is_optional=True),
        ]
        title = title_runs(ask.request, ask.display, ask.pending)
        body = SequenceView((subject, more))
        if not self._is_traced:
            return DialogView(title, body, footer, pinned_rows=pinned_rows)
        return DialogView(title, body, footer, body_id="trace", first_row=trace_at)

    def _changed_question(self) -> str:
        runs = self._ask.request.tool == "Bash"
        return "Run your changed version?" if runs else "Use your changed version?"

    def _problem_rows(self, width: int) -> list[FooterRow]:
        """Return rows about a problem of the editor, and about an edited call."""
        problem, lines = self._revision.problem, []
        if problem:
            lines.extend(wrap([(problem, Ink(Role.WARNING))], width))
        if is_barred(self._ask):
            lines.extend(wrap([(_BARRED, Ink(bold=True))], width))
        elif self._revision.is_changed:
            lines.extend(wrap([(self._changed_question(), Ink(bold=True))], width))
        return [FooterRow(line) for line in indent_rows(lines, PAD, PAD)]

    def _all_row(self) -> list[FooterRow]:
        if not self._shown_together:
            return []
        count = len(self._shown_together) + 1
        return [FooterRow(row(PAD[0], (f"a. Yes, once, to all {count}", TEXT)), _ALL)]

    def _sandbox_offer_rows(self) -> list[FooterRow]:
        if not self._offers_inside:
            return []
        return [FooterRow(row(PAD[0], (_OFFER, TEXT)), _INSIDE)]

    def _hint(self, width_cells: int) -> Row:
        room = width_cells - INDENT - 1
        if self._choices.is_commenting:
            keys = "enter send · tab close the comment"
        else:
            keys = self._keys_that_fit(room)
        return Row((PAD[0], *wrap([(keys, MUTED)], room)[0].runs))

    def _keys_that_fit(self, room: int) -> str:
        """Return the key hints that fit in one line; the most obvious ones are left out first."""
        trace = "less" if self._is_traced else "why"
        parts = " · h hunks" if self._revision.has_parts else ""
        keys = f"↑↓ select · enter confirm · tab comment{parts} · e edit · ctrl+y {trace}"
        short = keys.replace("select · enter confirm", "enter")
        lines = (
            f"{keys} · pgup/pgdn scroll · esc reject",
            f"{keys} · esc reject",
            f"{short} · esc reject",
            f"{short} · esc",
            f"{short.replace(' · e edit', '')} · esc",
        )
        return next((line for line in lines if text_width(line) <= room), lines[-1])


_ALL: Final = 1_000
"""Choice that answers several questions; larger than the index of any answer."""
_INSIDE: Final = 1_001
_OFFER: Final = "s. Run commands without asking inside the sandbox…"
_BARRED: Final = "Your version would be denied. Edit it (e), or say no."
