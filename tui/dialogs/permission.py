"""The permission dialog: what will run, why it asks, and what each answer would store.

Source: safety-and-permissions, interactive handler; a prompt shows the whole command, and makes
invisible characters visible.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from agent.display import CommandDisplay, DiffDisplay, Display
from agent.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    PartVerdict,
    Reason,
    ReasonType,
    RuleRef,
    TraceEntry,
)
from permissions.request import PermissionRequest
from themes.theme import Role
from tui.components.diff_view import diff_counts, diff_rows
from tui.components.markdown import code_rows
from tui.dialogs.choices import Choice, ChoiceList, Chosen
from tui.dialogs.dialog import Answered, DialogView, FooterRow
from tui.dialogs.revision import EditText, Revision
from tui.screen.width import text_width
from tui.shown import shown_display
from tui.text.highlight import Highlighter
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, Run, indented, row
from tui.text.wrap import chop, wrap

_INDENT: Final = 3
_PAD: Final[tuple[Run, ...]] = ((" " * _INDENT, TEXT),)


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
        self, ask: PermissionAsk, highlighter: Highlighter, edit_text: EditText | None = None
    ) -> None:
        """Open with "Yes" selected and nothing typed; `edit_text` is the person's editor."""
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
            case "permission:toggleDebug":
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

    def _decide(self, chosen: Chosen) -> None:
        decision = _decision(self._ask, chosen)
        if self._revision.is_changed and decision.behavior is Behavior.ALLOW:
            decision = replace(decision, updated_input=dict(self._revision.tool_input))
        self._answered.give(decision)

    def _show_revision(self) -> None:
        """Show the call as the person changed it; the verdicts on its parts were on the old one."""
        revision, ask = self._revision, self._ask
        if revision.is_changed:
            self._ask = replace(
                ask,
                request=replace(ask.request, tool_input=revision.tool_input),
                display=shown_display(revision.display),
                pending=replace(ask.pending, parts=(), message=_CHANGED),
            )

    # Rows

    def view(self, width_cells: int) -> DialogView:
        """Return the dialog at a width."""
        ask = self._ask
        if self._revision.is_choosing:
            return self._revision.view(_title(ask), width_cells)
        width = max(1, width_cells - _INDENT - 1)
        body: list[Row] = [*_subject(ask, width_cells, self._highlighter)]
        if len(ask.pending.parts) > 1:
            body.append(BLANK)
            body.extend(_parts(ask.pending.parts, width))
        body.append(BLANK)
        body.extend(_why(ask.pending, width))
        if self._is_traced:
            body.append(BLANK)
            body.extend(_trace(ask.pending.trace, width))
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(_PAD[0], (_question(ask), Ink(bold=True)))),
            *self._choices.rows(width_cells),
            FooterRow(BLANK, is_optional=True),
            FooterRow(self._hint(width_cells), is_optional=True),
        ]
        return DialogView(_title(ask), body, footer)

    def _hint(self, width_cells: int) -> Row:
        room = width_cells - _INDENT - 1
        if self._choices.is_commenting:
            keys = "enter sends the answer with the comment · tab closes it"
        else:
            keys = self._keys_that_fit(room)
        return Row((_PAD[0], *wrap([(keys, MUTED)], room)[0].runs))

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


def _title(ask: PermissionAsk) -> tuple[Run, ...]:
    tool = ask.request.tool
    name = _TITLES.get(tool, reveal(tool).replace("mcp__", "").replace("__", ": "))
    runs: tuple[Run, ...] = ((name, Ink(Role.ACCENT, bold=True)),)
    if isinstance(ask.display, DiffDisplay):
        path: Run = (" " + reveal(ask.display.path), Ink(bold=True))
        runs = (*runs, path, ("  ", TEXT), *diff_counts(ask.display))
    if ask.request.agent_id:
        kind = ask.request.agent_type or "sub-agent"
        runs = (*runs, (f"  asked by {kind}", MUTED))
    return runs


def _question(ask: PermissionAsk) -> str:
    match ask.request.tool:
        case "Bash":
            return "Run this command?"
        case "Edit" | "MultiEdit" | "NotebookEdit":
            return "Make this edit?"
        case "Write":
            return "Write this file?"
        case "WebFetch":
            return "Fetch this address?"
        case "Read" | "Glob" | "Grep":
            return "Allow reading this?"
        case _:
            return "Allow this call?"


def _subject(ask: PermissionAsk, width_cells: int, highlighter: Highlighter) -> list[Row]:
    """Return what will happen: the change, the command, or the input as it is."""
    tool_input = ask.request.tool_input
    match ask.display:
        case DiffDisplay():
            return diff_rows(ask.display, width_cells, highlighter=highlighter, indent=_INDENT)
        case CommandDisplay():
            shown = ask.display.command
            return _command(shown, tool_input.get("description"), width_cells, highlighter)
        case _:
            pass
    command = tool_input.get("command")
    if ask.request.tool == "Bash" and isinstance(command, str):
        return _command(command, tool_input.get("description"), width_cells, highlighter)
    rows: list[Row] = []
    for name, value in tool_input.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        lines = chop([(reveal(text), TEXT)], width_cells - _INDENT - len(name) - 3)
        head: tuple[Run, ...] = (_PAD[0], (f"{reveal(name)}  ", MUTED))
        rest: tuple[Run, ...] = ((" " * (_INDENT + len(name) + 2), TEXT),)
        rows.extend(indented(lines, head, rest))
    return rows or [row(_PAD[0], ("no input", MUTED))]


def _command(
    command: str, description: object, width_cells: int, highlighter: Highlighter
) -> list[Row]:
    lines = highlighter.block(reveal(command), "bash")
    rows = indented(code_rows(lines, width_cells - _INDENT), _PAD, _PAD)
    if isinstance(description, str) and description.strip():
        note = wrap([(reveal(description), MUTED)], width_cells - _INDENT - 1)
        rows = [*rows, *indented(note, _PAD, _PAD)]
    return rows


def _parts(parts: Sequence[PartVerdict], width: int) -> list[Row]:
    """Return one line per part of a compound command: verdict, text, and the rule that gave it."""
    rows: list[Row] = []
    for part in parts:
        look = _VERDICTS[part.behavior]
        head: tuple[Run, ...] = (_PAD[0], (f"{part.behavior.value:<6}", look))
        rest: tuple[Run, ...] = ((" " * (_INDENT + 6), TEXT),)
        because = _rule(part.rule) if part.rule else part.message
        runs: list[Run] = [(reveal(part.text), TEXT)]
        if because:
            runs.append((f"  {reveal(because)}", MUTED))
        rows.extend(indented(wrap(runs, width - 6), head, rest))
    return rows


def _why(pending: Decision, width: int) -> list[Row]:
    text = reveal(pending.message) or "Nothing allows this call, so it asks."
    rows = indented(
        wrap([(text, MUTED)], width - 2), (_PAD[0], ("◆ ", Ink(Role.WARNING))), ((" " * 5, TEXT),)
    )
    if pending.rule is not None:
        rule = wrap([(reveal(_rule(pending.rule)), MUTED)], width - 2)
        rows.extend(indented(rule, ((" " * 5, TEXT),), ((" " * 5, TEXT),)))
    for warning in pending.warnings:
        lines = wrap([(reveal(warning.message), Ink(Role.WARNING))], width - 2)
        rows.extend(indented(lines, (_PAD[0], ("! ", Ink(Role.WARNING))), ((" " * 5, TEXT),)))
    return rows


def _trace(trace: Sequence[TraceEntry], width: int) -> list[Row]:
    rows = [row(_PAD[0], ("How this came about", Ink(bold=True)))]
    for entry in trace:
        look = _ANSWERS.get(entry.answer, MUTED)
        facts = [fact for fact in (entry.rule, entry.source, entry.part) if fact]
        head: tuple[Run, ...] = (
            _PAD[0],
            (f"{entry.step.value:<11}", MUTED),
            (f"{entry.answer:<6} ", look),
        )
        rest: tuple[Run, ...] = ((" " * (_INDENT + 18), TEXT),)
        text = reveal(" · ".join(facts)) if facts else "no opinion"
        rows.extend(indented(wrap([(text, MUTED)], max(1, width - 18)), head, rest))
    return rows if trace else [*rows, row(_PAD[0], ("nothing was recorded", MUTED))]


def _rule(rule: RuleRef) -> str:
    place = rule.file or rule.source
    line = f":{rule.line}" if rule.line else ""
    return f"{rule.text} — {place}{line}"


_CHANGED: Final = "You changed it: rules are asked once more before it runs."
_VERDICTS: Final = {
    Behavior.ALLOW: Ink(Role.SUCCESS),
    Behavior.ASK: Ink(Role.WARNING),
    Behavior.DENY: Ink(Role.ERROR),
}
_ANSWERS: Final = {
    "allow": Ink(Role.SUCCESS),
    "ask": Ink(Role.WARNING),
    "deny": Ink(Role.ERROR),
}
_TITLES: Final = {
    "Bash": "Bash command",
    "Edit": "Edit",
    "MultiEdit": "Edit",
    "NotebookEdit": "Edit notebook",
    "Write": "Write",
    "WebFetch": "Fetch",
}
_DESTINATIONS: Final = {
    "session": "this session",
    "localSettings": ".agent/settings.local.json",
    "projectSettings": ".agent/settings.json",
    "userSettings": "~/.agent/settings.json",
}
