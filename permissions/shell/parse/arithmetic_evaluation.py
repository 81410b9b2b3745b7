"""Where a script evaluates text as arithmetic: a value such as `a[$(id)]` is run there.

The shell evaluates `$((…))`, subscripts, `[[ x -eq y ]]`, `-v name` and the names that some
builtins are given, and follows variables whose value is the name of another one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import names
from permissions.shell.syntax import Word

_ANY = "*"
"""Stands for every variable."""
_POSITIONAL = "@"
"""Stands for `$1` and its like, whose values come from elsewhere."""
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_POSITIONALS = re.compile(r"\$\{?[0-9@*]")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_./:@%+=,~ \n-]*")
_NUMBER = re.compile(r"[-+0-9., ]*")
_COUNTING = re.compile(
    r"\$\(\s*(?:(?:[^`$()'\"\\]*\|\s*)?wc\s+-[lwcm]+\s*(?:<\s*[\w./-]+\s*)?"
    r"|date\s+[\"']?\+%[sYmdHMSju]+[\"']?\s*|nproc\s*|id\s+-u\s*)\)"
)
"""Substitutions that give a number, whatever the files hold."""
_CALCULATED = re.compile(r"\$\(\([^()]*\)\)")
_PRINTED = re.compile(r"\$\((?!\()|`")
_RUNS = re.compile(r"\A[^\[]*+\[[^$`]*+[$`]")
"""A subscript that runs something."""
_HIDDEN_IN_QUOTES = re.compile(r"'[^']*[$`][^']*'|\\[$`]")
_SUBSTRING = re.compile(r"\$\{[^:}]*:(?![-+=?])(.*)\}", re.DOTALL)
_SUBSCRIPT = re.compile(r"\[(.*)\]", re.DOTALL)
_ELEMENT = re.compile(r"\[([^\]]*)\]\+?=")

_COMPARING = names("-eq -ne -lt -le -gt -ge")
_ASKING = names("-v -R")
_DECLARING = names("declare typeset local export readonly")
_NAMING = names("read mapfile readarray getopts unset wait")
_RUNNING = names("eval source .")
EVALUATING = _DECLARING | _NAMING | _RUNNING | names("[ test [[ let printf")
"""Programs whose arguments are looked at here."""


class ArithmeticEvaluation:
    """Collects, while a script is read, what it evaluates and what its variables may hold."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._odd = {_POSITIONAL}
        self._linked: set[str] = set()
        self._counted: set[str] = set()
        self._evaluated: set[str] = set()
        self._has_functions = False
        self._is_certain = ""

    @property
    def hides(self) -> str:
        """Return why something may run out of sight; empty when nothing does."""
        if self._is_certain:
            return self._is_certain
        odd = self._odd | (self._counted if self._has_functions else set())
        suspects = odd | (self._linked if len(odd) > 1 else set())
        if self._evaluated and (
            self._evaluated & suspects or (_ANY in self._evaluated and len(odd) > 1) or _ANY in odd
        ):
            return "arithmetic on values that could hold commands"
        return ""

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
        elif not _PLAIN_VALUE.fullmatch(value.plain):
            self._odd.add(name)
        elif not _NUMBER.fullmatch(value.plain):
            self._linked.add(name)

    def note_elements(self, raw: str) -> None:
        """Remember the subscripts of `a=([x]=1)`."""
        for match in _ELEMENT.finditer(raw):
            self.note_evaluated(match[1])

    def note_evaluated(self, raw: str) -> None:
        """Remember text that is evaluated."""
        if _HIDDEN_IN_QUOTES.search(raw):
            self._is_certain = "arithmetic on a quoted text"
        rest = _COUNTING.sub("", raw)
        if _PRINTED.search(rest):
            self._is_certain = "arithmetic on what a command prints"
        self._evaluated.update(_NAME.findall(rest))
        if _POSITIONALS.search(raw):
            self._evaluated.add(_POSITIONAL)

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
            texts = {word.text for word in words}
            if texts & (_COMPARING | _ASKING):
                self._evaluate(words)
        elif name == "let":
            self._evaluate(words)
        elif name in _DECLARING:
            self._declare(words)
        elif name in _NAMING:
            self._set(words)
        elif name == "printf" and words and words[0].text.startswith("-v"):
            self._set([Word("", words[0].text[2:]), *words[1:2]])
        elif name in _RUNNING:
            self._odd.add(_ANY)

    def _evaluate(self, words: Sequence[Word]) -> None:
        for word in words:
            if _RUNS.search(word.text):
                self._is_certain = "a subscript that runs something"
            if not word.text.startswith("-"):
                self.note_evaluated(word.raw if not word.is_literal else word.text)

    def _test(self, words: Sequence[Word]) -> None:
        if any(word.text in _ASKING for word in words):
            self._evaluate(words)
        for word in words:
            # Split up, it may bring its own `-v`.
            if word.splits and not word.scripts:
                self.note_evaluated(word.raw)
            elif word.splits and "[" in word.raw:
                self._is_certain = "a condition that could hold a subscript"

    def _declare(self, words: Sequence[Word]) -> None:
        options = "".join(word.text for word in words if word.text.startswith(("-", "+")))
        for word in words:
            name, equals, _ = word.text.partition("=")
            if equals and _NAME.fullmatch(name):
                value = Word(word.raw.partition("=")[2], word.text[len(name) + 1 :], word.splits)
                self.note_value(name, value)
            if _RUNS.search(name) or (set(options) & set("aAin") and _RUNS.search(word.text)):
                self._is_certain = "a subscript that runs something"
            if UNKNOWN in name:
                self._odd.add(_ANY)
                self.note_evaluated(word.raw)
        if "i" in options:
            self._evaluated.add(_ANY)

    def _set(self, words: Sequence[Word]) -> None:
        for word in words:
            if _RUNS.search(word.text):
                self._is_certain = "a subscript that runs something"
            if word.is_literal and _NAME.fullmatch(word.text):
                self._odd.add(word.text)
            elif not word.is_literal:
                self._odd.add(_ANY)
                self.note_evaluated(word.raw)
