"""Finds where a script evaluates text as arithmetic: the command in a value such as `a[$(id)]` runs
there.

The shell evaluates `$((…))`, subscripts, `[[ x -eq y ]]`, `-v name` and the names passed to some
builtins, and follows variables whose value is the name of another one. A script is understood if
such a place contains only numbers, and names that it sets to numbers and to nothing else. The value
of any other name is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.syntax import GLOB_MARKS, Word

_NAME = compile_late(r"\$\{(\w+)\}|\$?\b([A-Za-z_]\w*)", re.ASCII)
_SET_HERE = compile_late(r"\b([A-Za-z_]\w*)\s*=(?!=)", re.ASCII)
_NUMBERS = compile_late(
    r"(?:[-+*/%<>=!&|^?:()\[\],.\s\d\";]|\$(?:\(\(|[\[?#!$])|\$\{#\w*(?:\[[@*]\])?\})*", re.ASCII
)
"""Text with only numbers, operators and the shell's own numeric parameters."""
_NUMBER = compile_late(r"[-+0-9., ]*|\"?\$\(\([^()]*\)\)\"?")
_SUBSTRING = compile_late(r"\$\{[^:}]*:(?![-+=?])(.*)\}", re.DOTALL)
_SUBSCRIPT = compile_late(r"\[(.*)\]", re.DOTALL)
_ELEMENT = compile_late(r"\[([^\]]*)\]\+?=")

_EVALUATED_WHEN_SET = names(
    "RANDOM SRANDOM LINENO SECONDS EPOCHSECONDS BASHPID PPID UID EUID HISTCMD OPTIND OPTERR "
    "COMP_POINT COMP_CWORD"
)
"""Variables whose values the shell evaluates as arithmetic when they are set."""
_COMPARING = names("-eq -ne -lt -le -gt -ge")
_ASKING = names("-v -R")
_DECLARING = names("declare typeset local export readonly")
_NAMING = names("read mapfile readarray getopts unset wait")
_RUNNING = names("eval source .")
EVALUATING = _DECLARING | _NAMING | _RUNNING | names("[ test [[ let printf")
"""Programs whose arguments are checked here."""


class ArithmeticEvaluation:
    """Finds, during parsing, whether a script evaluates text that could contain a command."""

    def __init__(self) -> None:
        """Start with nothing recorded."""
        self._is_known = True
        self._runs_text = False
        self._evaluated_names: set[str] = set()
        self._numbers: set[str] = set()
        self._others: set[str] = set()

    @property
    def unknown_reason(self) -> str:
        """Return why something unknown may run; empty if nothing does."""
        # A text that runs may evaluate a variable set here, and set a variable evaluated here.
        is_open = self._runs_text and bool(self._others or self._evaluated_names)
        is_known = self._is_known and self._evaluated_names <= self._numbers - self._others
        return "" if is_known and not is_open else "arithmetic on values that could hold commands"

    def note_value(self, name: str, value: Word) -> None:
        """Record the value that a variable is set to."""
        if name == "PS4" and (not value.is_literal or re.search("[$`]", value.text)):
            self._is_known = False
        if _NUMBER.fullmatch(value.plain if value.is_literal else value.raw):
            self._numbers.add(name)
        else:
            self.note_unknown(name)

    def note_unknown(self, name: str) -> None:
        """Record a variable whose value is not a number, or comes from elsewhere."""
        self._others.add(name)
        if name in _EVALUATED_WHEN_SET:
            self._is_known = False

    def note_elements(self, name: str, raw: str) -> None:
        """Record `name=([x]=1)`."""
        self.note_unknown(name)
        for match in _ELEMENT.finditer(raw):
            self.note_evaluated(match[1])

    def note_evaluated(self, raw: str) -> None:
        """Record text that is evaluated."""
        self._evaluated_names.update(one or two for one, two in _NAME.findall(raw))
        self._numbers.update(_SET_HERE.findall(raw))
        if not _NUMBERS.fullmatch(_NAME.sub("", raw)):
            self._is_known = False

    def note_subscript(self, raw: str) -> None:
        """Record `name[…]`."""
        match = _SUBSCRIPT.search(raw)
        if match and match[1] not in ("@", "*"):
            self.note_evaluated(match[1])

    def note_expansion(self, raw: str) -> None:
        """Record `${…}`: subscripts and the numbers of a substring."""
        match = _SUBSTRING.fullmatch(raw)
        if match:
            self.note_evaluated(match[1])
        if "[" in raw:
            self.note_subscript(raw)

    def note_command(self, name: str, words: Sequence[Word]) -> None:
        """Record which arguments a builtin evaluates, and which variables it sets."""
        texts = {word.text for word in words}
        if name in ("[", "test"):
            self._test(words, asks=bool(texts & _ASKING))
        elif name == "let" or (name == "[[" and texts & _COMPARING):
            self._evaluate(words)
        elif name == "[[" and texts & _ASKING:
            self._ask(words)
        elif name in _DECLARING:
            self._declare(words)
        elif name in _NAMING:
            self._set(words)
        elif name == "printf" and words and words[0].text.startswith("-v"):
            self._set([Word("", words[0].text[2:]), *words[1:2]])
        elif name in _RUNNING:
            self._runs_text = True

    def _evaluate(self, words: Sequence[Word]) -> None:
        for word in words:
            if not word.text.startswith("-"):
                self.note_evaluated(word.raw if not word.is_literal else word.text)

    def _ask(self, words: Sequence[Word]) -> None:
        """Read `-v name`, which tests a variable; only a subscript in it is evaluated."""
        self._evaluate([word for word in words if not word.is_literal or "[" in word.text])

    def _test(self, words: Sequence[Word], *, asks: bool) -> None:
        if asks:
            self._ask(words)
        for word in words:
            # It may become several words, one of which may be `-v`.
            if word.splits:
                self.note_evaluated(word.raw)
            elif not word.text.isascii() and word.text.startswith(_GLOBS):
                self._is_known = False

    def _declare(self, words: Sequence[Word]) -> None:
        options = "".join(word.text for word in words if word.text.startswith(("-", "+")))
        for word in words:
            name, equals, value = word.text.partition("=")
            is_keyed = options == "-A" and word.is_literal
            is_list = "[" in word.text and not is_keyed and set(options) & set("aAn")
            if "[" in name or is_list or UNKNOWN in name:
                self._is_known = False
            elif equals:
                raw = word.raw.partition("=")[2]
                self.note_value(name.removesuffix("+"), Word(raw, value, word.splits))
            if "i" in options and name.isidentifier():
                # From here on, every value assigned to it is evaluated.
                self._evaluated_names.add(name)
            if "n" in options:
                self._others.add(name)

    def _set(self, words: Sequence[Word]) -> None:
        for word in words:
            if "[" in word.text or not word.is_literal:
                self._is_known = False
            else:
                self.note_unknown(word.text)


_GLOBS = tuple(GLOB_MARKS.values())
