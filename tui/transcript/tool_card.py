"""Draws a tool call: its line, its output while it runs, and its result, folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Final, Literal, assert_never

from msgspec.structs import replace

from agent.display import (
    CommandDisplay,
    DiffDisplay,
    Display,
    PlanDisplay,
    TextDisplay,
    TodoDisplay,
    TodoItem,
    WorkflowDisplay,
)
from agent.tools.decline_text import PLAN_REJECTED, UNANSWERED, comment_in
from agent.tools.search.hidden_text import hidden_part
from agent.tools.shell.shell_output import count_lines_left_out
from themes.theme import Role
from tui.text.highlight import Highlighter
from tui.text.styled_rows import FAINT, MUTED, TEXT, Ink, Row, Run, indent_rows, row
from tui.text.wrap import clip, hard_wrap, runs_width, spread, wrap
from tui.transcript.blocks import ToolCard, ToolState
from tui.transcript.diff.change_rows import diff_rows
from tui.transcript.diff.diff_view import diff_counts, first_changed_line
from tui.transcript.markdown.markdown_rows import markdown_rows
from tui.transcript.results.counted_tests import count_tests
from tui.transcript.results.denial_rows import denial_rows
from tui.transcript.results.result_size import is_sized, result_size

ToolLevel = Literal["line", "short", "full"]
"""How much of a folded call is shown: only its line, the start of its result, or all of it. Calls
that failed, were denied or wait show more than a line."""

LIVE_LINES: Final = 5
"""Number of last lines of output that are shown while a call runs."""
RESULT_LINES: Final = 4
ANSWER_LINES: Final = 12
"""Maximum number of lines of the user's answers to questions; four answers have eight."""
FAILED_LINES: Final = 10
DIFF_ROWS: Final = 24
_INDENT: Final = 3
_BODY_FIRST: Final[tuple[Run, ...]] = ((" └ ", FAINT),)
_BODY_REST: Final[tuple[Run, ...]] = (("   ", FAINT),)
_QUIET_STATES: Final = frozenset({"writing", "running", "ok"})
_SLOW_S: Final = 1.0
"""Calls faster than this show no duration."""
USER_TOOLS: Final = ("AskUserQuestion", "ExitPlanMode")
"""Tools that wait for the user, so that their duration is not shown."""


def tool_card_rows(
    card: ToolCard,
    width_cells: int,
    *,
    is_detailed: bool,
    highlighter: Highlighter,
    level: ToolLevel = "short",
) -> list[Row]:
    """Return the rows of a card; `is_detailed` shows the whole result regardless of the level."""
    width = max(1, width_cells - _INDENT - 1)
    is_detailed = is_detailed or level == "full" or card.is_users
    if level == "line" and not is_detailed and card.state in _QUIET_STATES:
        return _head(card, width_cells, is_detailed)
    body = _body(card, width, width_cells, is_detailed, highlighter)
    if card.is_users:
        return [_fit_row(line, width_cells) for line in _below_prompt(card, body, width_cells)]
    head = _head(card, width_cells, is_detailed)
    return [*head, *(_fit_row(line, width_cells) for line in body)]


def todo_rows(items: Sequence[TodoItem], width_cells: int) -> list[Row]:
    """Return a task list, one item per logical line."""
    rows: list[Row] = []
    for item in items:
        match item.status:
            case "completed":
                sign, ink = ("✓", Ink(Role.SUCCESS)), Ink(Role.MUTED, strike=True)
            case "in_progress":
                sign, ink = ("▸", Ink(Role.ACCENT)), Ink(bold=True)
            case "pending":
                sign, ink = ("○", MUTED), TEXT
            case _:
                assert_never(item.status)
        text = item.active_form if item.status == "in_progress" and item.active_form else ""
        lines = wrap([(text or item.content, ink)], max(1, width_cells - 2))
        rows.extend(indent_rows(lines, (sign, (" ", TEXT)), (("  ", TEXT),)))
    return rows


def _below_prompt(card: ToolCard, body: list[Row], width_cells: int) -> list[Row]:
    """Return the rows of the user's `!` command without its line, which is the prompt above."""
    if not body:
        return _nest_rows([row(("running", MUTED), is_copied=False)])
    if outcome := _outcome_runs(card):
        # At the right edge, so that it does not look like output.
        line = spread([], [*outcome, (" ", TEXT)], width_cells)
        body = [*body, Row(line, is_copied=False)]
    return body


def _outcome_runs(card: ToolCard) -> list[Run]:
    """Return the counts of a change and the duration of a slow call."""
    runs: list[Run] = []
    if isinstance(card.display, DiffDisplay) and card.state in ("ok", "running", "asking"):
        runs.extend(diff_counts(card.display))
    is_over = card.state not in ("writing", "running", "asking")
    if card.elapsed_s >= _SLOW_S and is_over and card.name not in USER_TOOLS:
        runs.append(("  " if runs else "", MUTED))
        runs.append((duration(card.elapsed_s), MUTED))
    return runs


def _head(card: ToolCard, width_cells: int, is_detailed: bool) -> list[Row]:
    sign_ink = _SIGNS[card.state]
    name, _, rest = card.identifier.partition(" ")
    if name != card.name:
        name, rest = card.name, card.identifier
    title: list[Run] = [(_display_name(name), Ink(bold=True))]
    if isinstance(card.display, TodoDisplay):
        rest = _progress(card.display.items)
    if rest:
        title += [(" ", TEXT), (" ".join(rest.splitlines()), Ink(link=_file_address(card)))]
    if card.state == "writing":
        title.append((" …", MUTED))
    if not is_detailed and (count := _count(card)):
        title.append((f"  {count}", MUTED))
    right = _outcome_runs(card)
    sign: Run = (f" {_SIGN_CHARS[card.state]} ", sign_ink)
    # A denied command is shown completely, since users read it before they respond.
    if is_detailed or (card.state == "denied" and card.name == "Bash"):
        lines = wrap(title, width_cells - _INDENT - 1)
        return indent_rows(lines, (sign,), _BODY_REST)
    if right:
        right.append((" ", TEXT))
    line = spread(title, right, width_cells - _INDENT)
    return [Row((sign, *line), gutter_chars=_INDENT)]


def _file_address(card: ToolCard) -> str | None:
    """Return the address of a call's file, for terminals that open links; None without one.

    The fragment is the line number, as in ripgrep's links.
    """
    path = card.input.get("file_path")
    if not isinstance(path, str) or not path.startswith("/"):
        return None
    line = card.input.get("offset")
    if isinstance(card.display, DiffDisplay):
        line = first_changed_line(card.display)
    return PurePath(path).as_uri() + (f"#{line}" if isinstance(line, int) and line > 1 else "")


def _progress(items: Sequence[TodoItem]) -> str:
    """Return a task list as one line: the progress, and the current item."""
    done_count = sum(item.status == "completed" for item in items)
    current = next((item for item in items if item.status == "in_progress"), None)
    suffix = f" · {current.active_form or current.content}" if current is not None else ""
    return f"{done_count}/{len(items)}{suffix}"


def _failure(card: ToolCard, width: int, is_detailed: bool) -> list[Row]:
    # For declined questions the result is text for the model.
    if card.result.startswith(UNANSWERED):
        return [row(("You declined to answer", Ink(Role.WARNING)))]
    if card.result.startswith(PLAN_REJECTED):
        comment = comment_in(card.result)
        runs: list[Run] = [("Rejected by you; plan mode stays on", Ink(Role.WARNING))]
        return wrap([*runs, (f" “{comment}”", TEXT)] if comment else runs, width)
    limit = None if is_detailed else FAILED_LINES
    is_command = isinstance(card.display, CommandDisplay)
    breaks = hard_wrap if is_command else wrap
    # Advice for the model is not shown.
    text = card.display.text if isinstance(card.display, TextDisplay) else card.result
    return _text(text, Ink(Role.ERROR), width, limit, from_end=is_command, breaks=breaks)


def _body(
    card: ToolCard, width: int, width_cells: int, is_detailed: bool, highlighter: Highlighter
) -> list[Row]:
    match card.state:
        case "writing":
            return []
        case "asking":
            return _nest_rows(
                [row(("waiting for your answer", Ink(Role.WARNING)), is_copied=False)]
            )
        case "running":
            live = _nest_rows(_live_rows(card, width))
            return [*_comment(card, width), *_join_nested(_agent(card, width), live)]
        case "denied":
            return _nest_rows(denial_rows(card, width, is_detailed))
        case "interrupted":
            return _nest_rows([*_live_rows(card, width), row(("Interrupted", Ink(Role.WARNING)))])
        case "failed" | "invalid":
            rows = _failure(card, width, is_detailed)
            return [*_comment(card, width), *_join_nested(_agent(card, width), _nest_rows(rows))]
        case "ok":
            rows = _result(card, width, width_cells, is_detailed, highlighter)
            return [*_comment(card, width), *_join_nested(_agent(card, width), rows)]
        case _:
            assert_never(card.state)


def _command(display: CommandDisplay, width: int, limit: int | None) -> list[Row]:
    # A background command has a note for the user instead of output.
    breaks = wrap if display.background_id else hard_wrap
    left_out = count_lines_left_out(display.output)
    rows = _text(
        display.output, MUTED, width, limit, from_end=True, left_out=left_out, breaks=breaks
    )
    if display.background_id:
        note = f"moved to the background ({display.background_id})"
        rows = [row((note, MUTED), is_copied=False), *rows]
    elif display.exit_code:
        rows.append(row((f"exit status {display.exit_code}", Ink(Role.WARNING))))
    return rows or [row(("no output", MUTED), is_copied=False)]


def _result(
    card: ToolCard, width: int, width_cells: int, is_detailed: bool, highlighter: Highlighter
) -> list[Row]:
    display: Display | None = card.display
    limit = None if is_detailed else RESULT_LINES
    match display:
        case DiffDisplay():
            max_rows = None if is_detailed else DIFF_ROWS
            return diff_rows(display, width_cells, highlighter=highlighter, max_rows=max_rows)
        case CommandDisplay():
            return _nest_rows(_command(display, width, limit))
        case TodoDisplay():
            return _nest_rows(todo_rows(display.items, width)) if is_detailed else []
        case PlanDisplay():
            return _nest_rows(_plan(display.plan, width, limit, highlighter))
        case TextDisplay() if display.language and is_detailed:
            lines = highlighter.block(display.text, display.language)
            return _nest_rows([part for line in lines for part in hard_wrap(line, width)])
        case TextDisplay():
            return _nest_rows(_summary(card.name, display.text, width, limit))
        case None | WorkflowDisplay():
            return _nest_rows(_summary(card.name, card.result, width, limit))
        case _:
            assert_never(display)


def _plan(text: str, width: int, limit: int | None, highlighter: Highlighter) -> list[Row]:
    """Return a plan as in its dialog; with `limit`, its first rows and a count of the rest."""
    rows = markdown_rows(text, width, highlighter, is_final=True)
    if limit is None or len(rows) <= limit + 1:
        return rows
    left_out = _left_out(len(rows) - limit, "more")
    return [*rows[:limit], row((left_out, MUTED), is_copied=False)]


def _summary(name: str, text: str, width: int, limit: int | None) -> list[Row]:
    """Return the first lines of a text result; if only its size is shown, just its notes."""
    if limit is not None and is_sized(name):
        return _text(hidden_part(text), MUTED, width, limit, breaks=wrap)
    if name == "AskUserQuestion":
        # The text before the answers is for the model.
        head, gap, answers = text.partition("\n\n")
        text = answers if gap and "→" not in head else text
    if name == "AskUserQuestion" and limit is not None:
        limit = ANSWER_LINES
    # Results of built-in tools are sentences; those of MCP servers may not be.
    breaks = hard_wrap if name.startswith("mcp__") else wrap
    rows = _text(text, MUTED, width, limit, breaks=breaks)
    return rows or [row(("no output", MUTED), is_copied=False)]


def _count(card: ToolCard) -> str:
    """Return the size of a call's result, or its number of tests; "" for other calls."""
    if isinstance(card.display, CommandDisplay) and card.state in ("ok", "failed"):
        tests = count_tests(card.display.output)
        return tests.text if tests is not None else ""
    if card.state != "ok" or not isinstance(card.display, TextDisplay | None):
        return ""
    text = card.display.text if card.display is not None else card.result
    return result_size(card.name, card.input, text)


def _comment(card: ToolCard, width: int) -> list[Row]:
    """Return the user's comment for the model on allowing the call."""
    feedback = card.decision.feedback if card.decision else None
    if not feedback:
        return []
    return indent_rows(wrap([(feedback, TEXT)], width), ((" ❯ ", MUTED),), _BODY_REST)


def _agent(card: ToolCard, width: int) -> list[Row]:
    agent = card.agent
    if agent is None:
        return []
    calls = f"{agent.tool_count} tool call" + ("" if agent.tool_count == 1 else "s")
    runs: list[Run] = [(calls, MUTED)]
    if agent.last_line and card.state == "running":
        runs.append((f" · {agent.last_line}", MUTED))
    return _nest_rows([Row(clip(runs, width), is_copied=False)])


def _live_rows(card: ToolCard, width: int) -> list[Row]:
    output = card.output.rstrip("\n")
    if not output:
        return []
    # Only the end is shown: long lines are cut before they are measured.
    lines = output.rsplit("\n", LIVE_LINES + 1)
    hidden = card.dropped_lines
    if len(lines) > LIVE_LINES:
        hidden += output.count("\n") + 1 - LIVE_LINES
        lines = lines[-LIVE_LINES:]
    rows = [Row(clip([(_last_state(line)[: width * 4], MUTED)], width)) for line in lines]
    if hidden:
        rows.insert(0, row((_left_out(hidden, "earlier"), MUTED), is_copied=False))
    return rows


def _few_rows(rows: list[Row], ink: Ink) -> list[Row]:
    """Return at most three rows of a line; if any are left out, the last ends with an ellipsis."""
    if len(rows) <= 3:
        return rows
    return [*rows[:2], Row(((rows[2].text[:-1] + "…", ink),), joint="")]


def _text(
    text: str,
    ink: Ink,
    width: int,
    limit: int | None,
    *,
    from_end: bool = False,
    left_out: int = 0,
    breaks: Callable[[Sequence[Run], int], list[Row]] = hard_wrap,
) -> list[Row]:
    """Return the first (or last) lines of a text and a count of the rest; all without a limit.

    `left_out` lines are counted although the text does not have them.

    `breaks` makes rows of a line: `hard_wrap` for output, `wrap` for sentences.
    """
    lines = text.strip("\n").split("\n") if text.strip() else []
    hidden = 0
    if limit is not None and len(lines) > limit + 1:
        hidden = len(lines) - limit + left_out
        lines = lines[-limit:] if from_end else lines[:limit]
    rows: list[Row] = []
    for line in map(_last_state, lines):
        if limit is None:
            rows.extend(breaks([(line, ink)], width))
        else:
            rows.extend(_few_rows(breaks([(line[: width * 4], ink)], width), ink))
    if hidden:
        where = "earlier" if from_end else "more"
        note = row((_left_out(hidden, where), MUTED), is_copied=False)
        rows = [note, *rows] if from_end else [*rows, note]
    return rows


def _left_out(count: int, where: str) -> str:
    return f"… {count:,} {where} line{'' if count == 1 else 's'} (ctrl+o)"


def _nest_rows(rows: list[Row]) -> list[Row]:
    return indent_rows(rows, _BODY_FIRST, _BODY_REST)


def _join_nested(first: list[Row], rest: list[Row]) -> list[Row]:
    """Return two lists of nested rows as one, without the sign of the second."""
    if first and rest and rest[0].runs[:1] == _BODY_FIRST:
        rest = [replace(rest[0], runs=(*_BODY_REST, *rest[0].runs[1:])), *rest[1:]]
    return [*first, *rest]


def _fit_row(line: Row, width_cells: int) -> Row:
    if runs_width(line.runs) <= width_cells:
        return line
    return replace(line, runs=clip(line.runs, width_cells))


def _last_state(line: str) -> str:
    """Return what a terminal would show of a line that carriage returns overwrite."""
    return line.rstrip("\r").rsplit("\r", 1)[-1] if "\r" in line else line


def duration(seconds: float) -> str:
    """Return a duration as text: 4.2 s, 35 s, 2 m 05 s, 1 h 02 m."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} m {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} m"


def _display_name(name: str) -> str:
    """Return a tool's name for users: `server: tool` for the tools of an MCP server."""
    if name.startswith("mcp__"):
        server, _, tool = name.removeprefix("mcp__").partition("__")
        return f"{server}: {tool}" if tool else server
    return _WORDS.get(name, name)


_WORDS: Final = {"AskUserQuestion": "Question", "ExitPlanMode": "Plan", "TodoWrite": "Tasks"}
"""Names for users, of tools whose names are meant for models."""
_SIGN_CHARS: Final[dict[ToolState, str]] = {
    "writing": "○",
    "running": "●",
    "asking": "●",
    "ok": "●",
    "failed": "✗",
    "denied": "⊘",
    "interrupted": "■",
    "invalid": "✗",
}
_SIGNS: Final[dict[ToolState, Ink]] = {
    "writing": MUTED,
    "running": Ink(Role.ACCENT),
    "asking": Ink(Role.WARNING),
    "ok": Ink(Role.SUCCESS),
    "failed": Ink(Role.ERROR),
    "denied": Ink(Role.WARNING),
    "interrupted": Ink(Role.WARNING),
    "invalid": Ink(Role.ERROR),
}
