"""Replace an exact piece of a text; keep its line endings, and explain why a piece is missing."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from itertools import islice
from typing import Final

from msgspec import Struct

from agent.tools.files.text_file import TextFile

_MAX_SEARCHED_LINES: Final = 20_000
_MAX_QUOTED_LINES: Final = 12
_MAX_QUOTED_CHARS: Final = 200
_CLOSE_ENOUGH: Final = 0.6
_MAX_CANDIDATES: Final = 25
_UNIQUE: Final = (
    "Add surrounding lines to old_string until it is unique, or set replace_all to change every "
    "occurrence."
)


class NoSuchText(Exception):
    """The old text is missing or not unique."""

    def __init__(self, fact: str, advice: str) -> None:
        """`fact` is for users and the model; `advice` helps the model to find the right text."""
        super().__init__(f"{fact} {advice}")
        self.fact = fact
        self.advice = advice


class Change(Struct, frozen=True):
    """A text after a replacement."""

    text: str
    count: int
    first_line: int
    """1-based line of the first replacement."""


def change_text(file: TextFile, old: str, new: str, *, replace_all: bool) -> Change:
    """Replace `old` by `new`; CR LF and LF compare equal.

    Everything outside the replaced pieces is unchanged; a replaced piece keeps the line endings it
    had, or takes those of most lines.

    Raises:
        NoSuchText: there is no such text, or more than one and `replace_all` is false.
    """
    text = file.text
    plain, target, substitute = (part.replace("\r\n", "\n") for part in (text, old, new))
    starts = _occurrences(plain, target)
    if not starts:
        raise NoSuchText("the text to replace was not found.", _explain_missing(plain, target))
    if len(starts) > 1 and not replace_all:
        fact = f"the text to replace occurs {len(starts)} times (lines {_numbers(plain, starts)})."
        raise NoSuchText(fact, _UNIQUE)
    carriage_returns = _crlf_positions(text)
    pieces = []
    position = 0
    for start in starts:
        begin = start + bisect_left(carriage_returns, start)
        plain_end = start + len(target)
        end = plain_end + bisect_left(carriage_returns, plain_end)
        piece = text[begin:end]
        crlf = "\r\n" in piece or ("\n" not in piece and file.line_ending == "\r\n")
        pieces += [text[position:begin], substitute.replace("\n", "\r\n") if crlf else substitute]
        position = end
    pieces.append(text[position:])
    return Change("".join(pieces), len(starts), plain.count("\n", 0, starts[0]) + 1)


def _numbers(text: str, starts: list[int]) -> str:
    lines = [text.count("\n", 0, start) + 1 for start in islice(starts, 10)]
    return ", ".join(map(str, lines)) + (", …" if len(starts) > 10 else "")


def _occurrences(text: str, target: str) -> list[int]:
    starts = []
    position = text.find(target)
    while position >= 0:
        starts.append(position)
        position = text.find(target, position + len(target))
    return starts


def _crlf_positions(text: str) -> list[int]:
    """Return the position of each CR LF pair after the pairs became single LFs, ascending."""
    positions: list[int] = []
    position = text.find("\r\n")
    while position >= 0:
        positions.append(position - len(positions))
        position = text.find("\r\n", position + 2)
    return positions


def _explain_missing(text: str, target: str) -> str:
    if not text:
        return "The file is empty."
    lines, sought = text.split("\n"), target.strip("\n").split("\n")
    if all(_looks_numbered(line) for line in sought if line.strip()):
        return (
            "old_string begins with line numbers: leave out the number and the tab that Read puts "
            "before each line."
        )
    loose = _find_ignoring_whitespace(lines, sought)
    if loose is not None:
        return (
            f"Line {loose + 1} onward differs from old_string only in spaces, tabs or blank ends. "
            f"The file has:\n{_quote(lines, loose, len(sought))}"
        )
    nearest = _find_most_similar(lines, sought)
    if nearest is None:
        return "Nothing in the file is similar to old_string; read it again."
    passage = _quote(lines, nearest, len(sought))
    return f"The lines of the file that are most similar to old_string:\n{passage}"


def _looks_numbered(line: str) -> bool:
    number, tab, _ = line.partition("\t")
    return bool(tab) and number.strip().isdigit()


def _find_ignoring_whitespace(lines: list[str], sought: list[str]) -> int | None:
    plain_lines = ["".join(line.split()) for line in lines]
    plain_target = ["".join(line.split()) for line in sought]
    if not any(plain_target):
        return None
    for start in range(len(lines) - len(plain_target) + 1):
        if (
            plain_lines[start] == plain_target[0]
            and plain_lines[start : start + len(plain_target)] == plain_target
        ):
            return start
    return None


def _find_most_similar(lines: list[str], sought: list[str]) -> int | None:
    """Return the index of the line where the most similar passage starts."""
    anchor_offset = max(range(len(sought)), key=lambda i: len(sought[i].strip()))
    anchor = sought[anchor_offset].strip()
    if not anchor:
        return None
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(anchor[:_MAX_QUOTED_CHARS])
    scores: list[tuple[float, int]] = []
    for index, line in enumerate(islice(lines, _MAX_SEARCHED_LINES)):
        matcher.set_seq1(line.strip()[:_MAX_QUOTED_CHARS])
        if matcher.real_quick_ratio() < _CLOSE_ENOUGH or matcher.quick_ratio() < _CLOSE_ENOUGH:
            continue
        ratio = matcher.ratio()
        if ratio >= _CLOSE_ENOUGH:
            scores.append((ratio, index))
    best = sorted(scores, key=lambda item: (-item[0], item[1]))[:_MAX_CANDIDATES]
    if not best:
        return None
    target = "\n".join(islice(sought, _MAX_QUOTED_LINES))

    def likeness(start: int) -> float:
        passage = "\n".join(lines[start : start + min(len(sought), _MAX_QUOTED_LINES)])
        return difflib.SequenceMatcher(None, passage, target, autojunk=False).quick_ratio()

    starts = [max(0, index - anchor_offset) for _, index in best]
    return max(starts, key=likeness)


def _quote(lines: list[str], start: int, count: int) -> str:
    passage = lines[start : start + min(count, _MAX_QUOTED_LINES)]
    text_lines = [
        f"{number:6}\t{line[:_MAX_QUOTED_CHARS]}{'…' if len(line) > _MAX_QUOTED_CHARS else ''}"
        for number, line in enumerate(passage, start + 1)
    ]
    if count > _MAX_QUOTED_LINES:
        text_lines.append("     …")
    return "\n".join(text_lines)
