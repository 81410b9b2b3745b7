"""Which sed scripts only print: a list of known-harmless commands, everything else is a risk."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ADDRESS = r"(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/[IM]*|\+\d+)"
_PREFIX = re.compile(rf"\s*(?:{_ADDRESS}(?:\s*,\s*{_ADDRESS})?)?\s*!?\s*")
_SIMPLE = re.compile(r"[pdDgGhHnNxlq=]\s*\d*\s*(?=[;}\n]|$)")
_TEXT = re.compile(r"[aic]\\?\s*[^\n]*(?:\n|$)")
_BRANCH = re.compile(r"(?:[bt]\s*[\w.-]*|:\s*[\w.-]+)\s*(?=[;}\n]|$)")


def sed_script_risk(script: str) -> str:
    """Return why the script may write or run something; "" when it provably does not.

    Substitution flags `e` and `w`, the commands `e w W r R` and whatever is not understood are
    risks.
    """
    position = _first_risk(script)
    if position is None:
        return ""
    return f"the sed script may run or write something (at {script[position:][:20]!r})"


def sed_script_writes(script: str) -> list[str]:
    """Return the files that a script writes, as far as it is understood up to there."""
    matches = [_WRITE.match(line) or _WRITE_FLAG.search(line) for line in _risky_lines(script)]
    found = [match[1].strip() for match in matches if match]
    return [path for path in found if path not in ("", "/dev/stdout", "/dev/stderr")]


def sed_script_reads(script: str) -> list[str]:
    """Return the files that a script reads, as far as it is understood up to there."""
    matches = [_READ.match(line) for line in _risky_lines(script)]
    found = [match[1].strip() for match in matches if match]
    return [path for path in found if path not in ("", "/dev/stdin")]


def _risky_lines(script: str) -> Iterator[str]:
    """Yield what stands from each command that is not known to be harmless to its line's end."""
    while (position := _first_risk(script)) is not None:
        line, _, script = script[position:].partition("\n")
        yield line


_WRITE = re.compile(r"[wW]\s*(.+)")
_READ = re.compile(r"[rR]\s*(.+)")
_WRITE_FLAG = re.compile(r"[^\w\s\\][gpiIM0-9]*w\s*([^\s;}][^;}]*)$")


def _first_risk(script: str) -> int | None:
    """Return where the first command stands that is not known to be harmless."""
    position = 0
    depth = 0
    while position < len(script):
        if script[position] in " \t\n;":
            position += 1
            continue
        prefix = _PREFIX.match(script, position)
        position = prefix.end() if prefix else position
        if position >= len(script):
            break
        command = script[position]
        if command == "{":
            depth += 1
            position += 1
            continue
        if command == "}" and depth:
            depth -= 1
            position += 1
            continue
        if command in "sy":
            end = _substitution_end(script, position)
            if end is None:
                return position
            position = end
            continue
        for pattern in (_SIMPLE, _BRANCH, _TEXT):
            match = pattern.match(script, position)
            if match:
                position = match.end()
                break
        else:
            return position
    return None


def _substitution_end(script: str, start: int) -> int | None:
    """Return where `s/a/b/flags` or `y/a/b/` ends; None when its flags are not harmless."""
    if start + 1 >= len(script):
        return None
    delimiter = script[start + 1]
    if delimiter in "\\\n" or delimiter.isalnum():
        return None
    position, seen = start + 2, 0
    while position < len(script) and seen < 2:
        character = script[position]
        if character == "\\":
            position += 2
            continue
        if character == delimiter:
            seen += 1
        elif character == "[" and seen == 0:
            # A delimiter inside a bracket differs between seds: leave it to a user.
            closing = script.find("]", position + 2)
            if closing < 0 or delimiter in script[position:closing]:
                return None
            position = closing
        position += 1
    if seen < 2:
        return None
    flags = re.compile(r"[gpiIM0-9]*\s*(?=[;}\n]|$)").match(script, position)
    return flags.end() if flags else None
