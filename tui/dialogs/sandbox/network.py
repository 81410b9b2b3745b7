"""The network dialog: asks whether a command in the sandbox may reach a host."""

from __future__ import annotations

from typing import Final

from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.network.host_name import HostName, authority
from agent.sandbox.network.host_rules import USUAL_PORTS
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choices import Choice, ChoiceList, Chosen
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run, indent_rows, row
from tui.text.wrap import wrap

_PAD: Final = (("   ", TEXT),)
_INDENT: Final = 4
_COMMAND_ROWS: Final = 3
_SENDS: Final = "It can send anything that it can read; what it sends is not inspected."
_KINDS: Final = {
    "loopback": "This address is your own machine: a server outside the sandbox.",
    "this machine's own": "This address is your own machine: a server outside the sandbox.",
    "private": "This address is inside your own network.",
    "unique-local": "This address is inside your own network.",
}


class NetworkDialog(GivesAnswer[HostAnswer]):
    """Asks about one host; other connections to it wait for the same answer."""

    def __init__(self, request: HostRequest) -> None:
        """Open with "Yes" selected and nothing typed."""
        self.ignored_keys = 0
        self._request = request
        super().__init__()
        always = Choice(
            "Yes, always in this project",
            ".agent/settings.local.json",
            f"WebFetch(domain:{request.host})",
        )
        self._yeses = [Choice("Yes, for this session"), *([always] if can_store(request) else [])]
        noes = [
            Choice("No"),
            Choice("No, and tell it why", comment_hint="what to do instead…", needs_comment=True),
        ]
        self._choices = ChoiceList([*self._yeses, *noes])

    @property
    def typed_text(self) -> str:
        """The comment that was typed and not submitted."""
        return self._choices.comment(len(self._yeses) + 1)

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: choose, move or comment."""
        choices = self._choices
        if choices.is_commenting and key not in ("up", "down"):
            self._press_in_comment(key, text)
        elif key.isdigit() and 0 < int(key) <= len(choices.choices):
            choices.select(int(key) - 1)
            self._confirm()
        else:
            self._run_action(key, action_id)

    def _run_action(self, key: str, action_id: str | None) -> None:
        match action_id:
            case "confirm:yes" if key == "y":
                self._decide(self._choices.chosen(0))
            case "confirm:yes":
                self._confirm()
            case "confirm:no":
                self._decide(Chosen(len(self._yeses), ""))
            case "confirm:previous":
                self._choices.move(-1)
            case "confirm:next":
                self._choices.move(1)
            case "confirm:nextField":
                self._choices.select(len(self._yeses) + 1)
                self._choices.open_comment()
            case _:
                self.ignored_keys += 1

    def _press_in_comment(self, key: str, text: str) -> None:
        if key == "enter":
            self._confirm()
        elif key in ("tab", "escape"):
            self._choices.is_commenting = False
        else:
            self._choices.type(key, text)

    def paste(self, text: str) -> None:
        """Paste into the comment."""
        if self._choices.is_commenting:
            self._choices.paste(text)
        else:
            self.ignored_keys += 1

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected answer decides."""
        if self._choices.selected_index == choice and not self._choices.is_commenting:
            self._confirm()
        else:
            self._choices.select(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        request = self._request
        width = max(1, width_cells - _INDENT)
        body = [*self._command_rows(width), BLANK]
        for text in filter(None, (_KINDS.get(request.kind or ""), _SENDS)):
            body.extend(wrap([(text, MUTED)], width))
        hint = "↑↓ select · enter confirm · tab no, with a comment · esc reject"
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(
                row(_PAD[0], ("Let it reach ", Ink(bold=True)), (self._where, _HOST), ("?", TEXT))
            ),
            *self._choices.rows(width_cells),
            FooterRow(row(_PAD[0], (hint, MUTED)), is_optional=True),
        ]
        title: tuple[Run, ...] = (("Network ", Ink(Role.ACCENT, bold=True)), (self._where, _HOST))
        return DialogView(title, indent_rows(body, _PAD, _PAD), footer)

    def _command_rows(self, width: int) -> list[Row]:
        command = reveal(self._request.call.command)
        if not command:
            return wrap([(f"A command in the sandbox wants to reach {self._where}.", TEXT)], width)
        rows = wrap([(command, Ink(Role.CODE))], width)
        if len(rows) > _COMMAND_ROWS:
            rows = [*rows[: _COMMAND_ROWS - 1], row(("…", MUTED))]
        return [*rows, *wrap([(f"wants to reach {self._where}.", TEXT)], width)]

    @property
    def _where(self) -> str:
        return authority(HostName(self._request.host), self._request.port)

    def _confirm(self) -> None:
        """Give the selected answer, or open its comment field if a required comment is missing."""
        if not self._choices.waits_for_comment:
            self._decide(self._choices.chosen())
        elif not self._choices.is_commenting:
            self._choices.open_comment()

    def _decide(self, chosen: Chosen) -> None:
        if chosen.index < len(self._yeses):
            self.give(HostAnswer(True, always=chosen.index > 0))
        else:
            self.give(HostAnswer(False, chosen.comment))


_HOST: Final = Ink(Role.CODE, bold=True)


def can_store(request: HostRequest) -> bool:
    """Return whether a rule can allow this: rules cover only the usual ports of public hosts."""
    return request.kind is None and request.port in USUAL_PORTS and ":" not in request.host
