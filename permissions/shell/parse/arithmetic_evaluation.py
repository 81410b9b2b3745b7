"""Where a script evaluates text as arithmetic: a value such as `a[$(id)]` is run there.

The shell evaluates `$((…))`, subscripts, `[[ x -eq y ]]`, `-v name` and the names that some
builtins are given, and follows variables whose value is the name of another one. A script is
understood when every name in such a place holds a plain number that the script itself set, or is
one of those that the shell keeps as numbers. Whatever else a name may hold is not known: the shell
sets some by itself (`_`, `REPLY`, `BASH_REMATCH`), the environment others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.syntax import GLOB_MARKS, Word

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_POSITIONALS = re.compile(r"\$\{?[0-9@*]")
_NUMBER = re.compile(r"[-+0-9., ]*")
_COUNTING = re.compile(
    r"\$\(\s*(?:(?:[^`$()'\"\\]*\|\s*)?wc\s+-[lwcm]+\s*(?:<\s*[\w./-]+\s*)?"
    r"|date\s+[\"']?\+%[sYmdHMSju]+[\"']?\s*|nproc\s*|id\s+-u\s*)\)"
)
"""Substitutions that give a number, whatever the files hold."""
_CALCULATED = re.compile(r"\$\(\([^()]*\)\)")
_LENGTH = re.compile(r"\$\{#\w*(?:\[[@*]\])?\}")
_PRINTED = re.compile(r"\$\((?!\()|`")
_HIDDEN_IN_QUOTES = re.compile(r"'[^']*[$`][^']*'|\\[$`]")
_SUBSTRING = re.compile(r"\$\{[^:}]*:(?![-+=?])(.*)\}", re.DOTALL)
_SUBSCRIPT = re.compile(r"\[(.*)\]", re.DOTALL)
_ELEMENT = re.compile(r"\[([^\]]*)\]\+?=")
_SET_HERE = re.compile(r"\b([A-Za-z_]\w*)\s*=(?!=)", re.ASCII)

_NUMBERS_OF_SHELL = names("RANDOM SRANDOM LINENO SECONDS EPOCHSECONDS BASHPID PPID UID EUID")
_EVALUATED_WHEN_SET = _NUMBERS_OF_SHELL | names("HISTCMD OPTIND OPTERR COMP_POINT COMP_CWORD")
"""Variables to which the shell gives numbers: what they are set to is arithmetic."""
_COMPARING = names("-eq -ne -lt -le -gt -ge")
_ASKING = names("-v -R")
_DECLARING = names("declare typeset local export readonly")
_NAMING = names("read mapfile readarray getopts unset wait")
_RUNNING = names("eval source .")
EVALUATING = _DECLARING | _NAMING | _RUNNING | names("[ test [[ let printf")
"""Programs whose arguments are looked at here."""

_NOT_KNOWN = "arithmetic on values that could hold commands"


class ArithmeticEvaluation:
    """Collects, while a script is read, what it evaluates and what its variables may hold."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._numbers = set(_NUMBERS_OF_SHELL)
        self._counted: set[str] = set()
        self._others: set[str] = set()
        self._evaluated: set[str] = set()
        self._has_functions = False
        self._is_open = False
        self._is_certain = ""

    @property
    def hides(self) -> str:
        """Return why something may run out of sight; empty when nothing does."""
        if self._is_certain or not (self._evaluated or self._others):
            return self._is_certain
        if not self._others.isdisjoint(_EVALUATED_WHEN_SET):
            return _NOT_KNOWN
        # A function may stand behind the name of what counts.
        known = self._numbers | (set() if self._has_functions else self._counted)
        is_known = not self._is_open and self._evaluated <= known - self._others
        return "" if is_known else _NOT_KNOWN

    def note_function(self) -> None:
        """Record that a program may be another than its name suggests."""
        self._has_functions = True

    def note_value(self, name: str, value: Word) -> None:
        """Remember what a variable is set to."""
        if name == "PS4" and (not value.is_literal or re.search("[$`]", value.text)):
            self._is_certain = "PS4 runs what it holds"
        raw = value.raw.strip('"')
        if _COUNTING.fullmatch(raw) or _CALCULATED.fullmatch(raw):
            self._counted.add(name)
        elif _NUMBER.fullmatch(value.plain):
            self._numbers.add(name)
        else:
            self._others.add(name)

    def note_unknown(self, name: str) -> None:
        """Remember a variable whose value comes from elsewhere."""
        self._others.add(name)

    def note_elements(self, name: str, raw: str) -> None:
        """Remember `name=([x]=1)`."""
        self._others.add(name)
        for match in _ELEMENT.finditer(raw):
            self.note_evaluated(match[1])

    def note_evaluated(self, raw: str) -> None:
        """Remember text that is evaluated; what it sets is a number."""
        if _HIDDEN_IN_QUOTES.search(raw):
            self._is_certain = "arithmetic on a quoted text"
        rest = _LENGTH.sub("1", _COUNTING.sub("1", raw))
        if _PRINTED.search(rest):
            self._is_certain = "arithmetic on what a command prints"
        if _POSITIONALS.search(rest):
            self._is_certain = _NOT_KNOWN
        self._numbers.update(_SET_HERE.findall(rest))
        self._evaluated.update(_NAME.findall(rest))

    def note_subscript(self, raw: str) -> None:
        """Remember `name[…]`."""
        match = _SUBSCRIPT.search(raw)
        if match and match[1] not in ("@", "*"):
            self.note_evaluated(match[1])

    def note_expansion(self, raw: str) -> None:
        """Remember `${…}`: subscripts and the numbers of a substring."""
        match = _SUBSTRING.fullmatch(raw)
        if match:
            self.note_evaluated(match[1])
        if "[" in raw:
            self.note_subscript(raw)

    def note_command(self, name: str, words: Sequence[Word]) -> None:
        """Remember what a builtin evaluates among its arguments, and what it sets."""
        if name in ("[", "test"):
            self._test(words)
        elif name == "[[":
            self._compare(words)
        elif name == "let":
            self._evaluate(words)
        elif name in _DECLARING:
            self._declare(words)
        elif name in _NAMING:
            self._set(words)
        elif name == "printf" and words and words[0].text.startswith("-v"):
            self._set([Word("", words[0].text[2:]), *words[1:2]])
        elif name in _RUNNING:
            self._is_open = True

    def _evaluate(self, words: Sequence[Word]) -> None:
        for word in words:
            if not word.text.startswith("-"):
                self.note_evaluated(word.raw if not word.is_literal else word.text)

    def _compare(self, words: Sequence[Word]) -> None:
        texts = {word.text for word in words}
        if texts & _COMPARING:
            self._evaluate(words)
        elif texts & _ASKING:
            self._ask(words)

    def _ask(self, words: Sequence[Word]) -> None:
        """Read `-v name`, which looks the name up; only a subscript in it is evaluated."""
        for word in words:
            is_name = word.is_literal and "[" not in word.text
            if not is_name and not word.text.startswith("-"):
                self.note_evaluated(word.raw if not word.is_literal else word.text)

    def _test(self, words: Sequence[Word]) -> None:
        if any(word.text in _ASKING for word in words):
            self._ask(words)
        for word in words:
            # It may become several words, and bring its own `-v`.
            if word.splits:
                self.note_evaluated(word.raw)
            elif not word.text.isascii() and word.text.startswith(_GLOBS):
                self._is_certain = "a condition on whatever files there are"

    def _declare(self, words: Sequence[Word]) -> None:
        options = "".join(word.text for word in words if word.text.startswith(("-", "+")))
        for word in words:
            name, equals, _ = word.text.partition("=")
            is_keyed = options == "-A" and word.is_literal
            if "[" in name or (set(options) & set("aAn") and "[" in word.text and not is_keyed):
                self.note_evaluated(word.text if word.is_literal else word.raw)
            name = name.removesuffix("+")
            if UNKNOWN in name:
                self._is_open = True
                self.note_evaluated(word.raw)
            elif _NAME.fullmatch(name):
                self._declare_name(name, word if equals else None, options)

    def _declare_name(self, name: str, word: Word | None, options: str) -> None:
        if word is not None:
            value, raw = word.text.partition("=")[2], word.raw.partition("=")[2]
            self.note_value(name, Word(raw, value, word.splits))
        if "i" in options:
            # From here on, whatever it is given is evaluated.
            self._evaluated.add(name)
        if "n" in options:
            self._others.add(name)

    def _set(self, words: Sequence[Word]) -> None:
        for word in words:
            if "[" in word.text:
                self.note_evaluated(word.text if word.is_literal else word.raw)
            elif word.is_literal and _NAME.fullmatch(word.text):
                self._others.add(word.text)
            elif not word.is_literal:
                self._is_open = True
                self.note_evaluated(word.raw)


_GLOBS = tuple(GLOB_MARKS.values())
