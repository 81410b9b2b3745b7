"""What is known of editors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import (
    split_arguments,
)
from permissions.shell.programs.common_arguments import (
    reads,
    writes,
)
from permissions.shell.programs.program import (
    Code,
    Program,
)
from permissions.shell.syntax import (
    Word,
)


def editor(words: Sequence[Word]) -> list[Access]:
    """Read what `vim -c 'w file'` writes beside the files it opens."""
    found = split_arguments(words, valued="cSuiT", valued_long=names("--cmd"))
    written: list[Word] = []
    for value in (*found.values("-c", "--cmd"), *(Word(w.raw, w.text[1:]) for w in words)):
        match = _EDITOR_WRITE.match(value.text)
        if match:
            written.append(Word(value.raw, match[1]))
    operands = [word for word in found.operands if not word.plain.startswith("+")]
    return each(AccessKind.WRITE, [*operands, *written])


_EDITOR_WRITE = re.compile(r":?\s*(?:w|wq|write|sav|saveas|up|update|x)!?\s+(?:>>\s*)?(\S+)")


_EDITOR_LONG = names("--cmd --remote-expr --remote-send --startuptime --listen --servername")


def editor_risk(program: str, words: Sequence[Word]) -> str:
    """Return which option of vim runs a command of its own."""
    for word in words:
        text = word.plain
        if text == "--":
            break
        if text.startswith("+") and not re.fullmatch(r"\+(?:\d*|/.*)", text):
            return f"{program} + runs a command of its own"
        if text.startswith("--") and text.partition("=")[0] in _EDITOR_LONG:
            return f"{program} {text.partition('=')[0]} runs a command of its own"
        letter = re.match(r"-[A-Za-z]*?([cSsuUwWVlq])", text)
        if letter:
            return f"{program} -{letter[1]} runs commands or writes a file"
    return ""


PROGRAMS = (
    Program("vi vim nvim ex view", accesses=editor, code=Code.EDITOR,
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)", risk_check=editor_risk,
        command_options="-c --cmd"),
    Program("vimdiff", accesses=reads(), reads_operands=True, risk_check=editor_risk),
    Program("gvim", risk_check=editor_risk),
    Program("ed", accesses=writes("p"), code=Code.EDITOR,
        code_starts=r"(?:^\+?|\n|\|)[: \t]*[\d$%,]*!([^\n]+)"),
    Program("nano", accesses=writes(), output_directories="-C --backupdir"),
    Program("emacs", accesses=writes("lf")),
    Program("micro", accesses=writes()),
    Program("joe jed pico code", reads_operands=True),
)  # fmt: skip
