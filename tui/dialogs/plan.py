"""The plan dialog: shows a plan, which the user approves or comments on."""

from __future__ import annotations

from agent.tools.services import PlanAnswer
from permissions.base.text.sanitize import sanitize
from permissions.mode import Mode
from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList, Chosen
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.dialogs.edited_call import EditText
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, indent_rows, row
from tui.transcript.markdown.markdown_rows import markdown_rows


class PlanDialog(GivesAnswer[PlanAnswer]):
    """Asks whether to carry out a plan, and in which mode."""

    def __init__(
        self, plan: str, highlighter: Highlighter, edit_text: EditText | None = None
    ) -> None:
        """Open with the plan from its start; `edit_text` is the user's editor."""
        self.ignored_keys = 0
        self._plan = sanitize(plan)
        self._own_plan: str | None = None
        self._edit_text = edit_text
        self._highlighter = highlighter
        super().__init__()
        self._choices = ChoiceList(
            [
                Choice("Yes, and auto-accept edits"),
                Choice("Yes, and approve each edit"),
                Choice("No, keep planning", comment_hint="and tell the model what to change…"),
            ]
        )

    def _press_in_comment(self, key: str, text: str) -> None:
        if key == "enter":
            self._decide(self._choices.chosen())
        elif key in ("tab", "escape"):
            self._choices.is_commenting = False
        else:
            self._choices.type(key, text)

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: choose, move, comment, or edit the plan."""
        choices = self._choices
        if choices.is_commenting and key not in ("up", "down"):
            self._press_in_comment(key, text)
            return
        if key in ("1", "2", "3"):
            choices.select(int(key) - 1)
            self._decide(choices.chosen())
            return
        match action_id:
            case "confirm:yes":
                self._decide(choices.chosen(0) if key == "y" else choices.chosen())
            case "confirm:no":
                self._decide(Chosen(2, ""))
            case "confirm:previous":
                choices.move(-1)
            case "confirm:next":
                choices.move(1)
            case "confirm:nextField":
                choices.select(2)
                choices.open_comment()
            case "confirm:edit":
                self._edit()
            case _:
                self.ignored_keys += 1

    def _edit(self) -> None:
        text = self._edit_text(self._plan, "plan.md") if self._edit_text is not None else None
        if text is not None and text.strip() and text.rstrip() != self._plan.rstrip():
            self._own_plan = self._plan = sanitize(text.rstrip())

    def paste(self, text: str) -> None:
        """Paste into the comment."""
        self._choices.paste(text)

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected_index == choice:
            self._decide(self._choices.chosen())
        else:
            self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        pad = (("   ", TEXT),)
        body = indent_rows(markdown_rows(self._plan, width_cells - 4, self._highlighter), pad, pad)
        edit = " · ctrl+g edit" if self._edit_text is not None else ""
        hint = f"↑↓ select · enter confirm · tab comment{edit} · pgup/pgdn · esc reject"
        question = (
            "Go ahead with this plan?" if self._own_plan is None else "Go ahead with your version?"
        )
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(pad[0], (question, Ink(bold=True)))),
            *self._choices.rows(width_cells),
            FooterRow(row(pad[0], (hint, MUTED)), is_optional=True),
        ]
        return DialogView((("Plan", Ink(Role.MODE_PLAN, bold=True)),), body, footer)

    def _decide(self, chosen: Chosen) -> None:
        modes = (Mode.ACCEPT_EDITS, Mode.DEFAULT)
        if chosen.index < len(modes):
            mode = str(modes[chosen.index])
            self.give(PlanAnswer(True, mode, plan=self._own_plan))
        else:
            self.give(PlanAnswer(False, feedback=chosen.comment, plan=self._own_plan))
