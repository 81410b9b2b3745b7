"""The arguments that the parser reads in a command, and those that bash passes: bash is the judge.

Commands named `show` record their arguments. Each recorded call must be one of the commands that
the parser found, and each new file the target of a redirection, or the command is not understood.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.flow.working_directories import place
from permissions.shell.parse.parse import parse
from permissions.shell.syntax import (
    GLOB_MARKS,
    HOME_MARK,
    PIPE_MARK,
    PWD_MARK,
    Simple,
    Unparsable,
    Word,
)
from tests.examples import examples

_SHOW: Final = '#!/bin/sh\nfor each; do printf "%s\\0" "$each"; done > "$LOG/$$"\n'
_FILES: Final = frozenset({"a.txt", "b.txt", "-n", "x"})
_NUMBERS = count()


@dataclass(frozen=True)
class Shell:
    """Directories in which generated commands run."""

    root: Path

    def run(self, command: str) -> tuple[list[str], set[str], Path]:
        """Return the arguments of each call of `show`, the new files, and the directory."""
        there = self.root / str(next(_NUMBERS))
        log, cwd = there / "log", there / "cwd"
        for directory in (log, cwd, there / "home"):
            directory.mkdir(parents=True)
        for name in _FILES:
            (cwd / name).touch()
        env = {"PATH": str(self.root / "bin"), "LOG": str(log), "HOME": str(there / "home")}
        env |= {"V": "one two", "E": "", "G": "*", "D": "-x"}
        subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        calls = [os.fsdecode(one.read_bytes()) for one in log.iterdir()]
        return calls, {one.name for one in cwd.iterdir()} - _FILES, there


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A shell whose only program is `show`."""
    root = tmp_path_factory.mktemp("words")
    program = root / "bin" / "show"
    program.parent.mkdir()
    program.write_text(_SHOW)
    program.chmod(0o755)
    return Shell(root)


def _pattern(word: Word, there: Path) -> str:
    """Return a regular expression for what a word may become, each part ended by a zero byte."""
    known = {HOME_MARK: re.escape(str(there / "home")), PWD_MARK: re.escape(str(there / "cwd"))}
    anything = r"[\s\S]*" if word.splits else r"[^\x00]*"
    known |= dict.fromkeys((UNKNOWN, PIPE_MARK, GLOB_MARKS["*"]), anything)
    known[GLOB_MARKS["?"]] = r"[^\x00]"
    if GLOB_MARKS["["] in word.text or (word.splits and word.has_glob):
        return rf"(?:{anything}\x00)*"
    text = "".join(known.get(one) or re.escape(one) for one in word.text)
    if word.has_glob:
        return rf"(?:{text}\x00)+"
    return rf"(?:{text}\x00)" + ("?" if word.text.strip(UNKNOWN) == "" and word.splits else "")


def _arguments(simple: Simple) -> tuple[Word, ...] | None:
    words = simple.words
    while words and words[0].text in ("time", "command"):
        words = words[1:]
    if not words or (words[0].is_literal and words[0].text != "show"):
        return None
    return words[1:]


def _check(command: str, shell: Shell) -> bool:
    """Compare the parser with bash; return whether the parser understood the command."""
    script = parse(command)
    if isinstance(script, Unparsable) or script.unknown_reason:
        return False
    calls, files, there = shell.run(command)
    commands = [one.simple for one in place(script, str(there / "cwd"), str(there / "home"))]

    def patterns(word_lists: Iterable[Iterable[Word] | None]) -> list[str]:
        return [
            "".join(_pattern(one, there) for one in words)
            for words in word_lists
            if words is not None
        ]

    for call in calls:
        read = patterns(map(_arguments, commands))
        assert any(re.fullmatch(one, call) for one in read), (command, call, commands)
    redirects = [redirect for one in commands for redirect in one.redirects]
    targets = patterns([[one.target] for one in redirects if one.target is not None])
    for name in files:
        spelled = [f"{before}{name}\0" for before in ("", "./", f"{there / 'cwd'}/")]
        assert any(re.fullmatch(one, text) for one in targets for text in spelled), (command, name)
    return True


PIECES = [
    *"ab01-=:+@%^!}[]",
    *("a.txt", "x", "é", "-n", "if", "in", "done", "]]", "sub/x", ".."),
    *("'a b'", "'$V'", "'\"'", "'\\'", "'~'", "'{a,b}'", "'*'", "'#'", "'$(show 9)'", "'`'", "''"),
    *("$V", "$E", "$G", "$D", "$U", "$@", "$*", "$#", "$?", "$$", "$!", "$1", "$HOME", "$PWD"),
    *("${V}", "${V:-x y}", "${V#one}", "${#V}", "${U-a b}", "${V%% *}", "${V/one/q}", "${V:0:2}"),
    *("${@}", "${E:-$V}", "${U:-'a b'}", '${U:-"a b"}', "${U:-{a,b}}", "${V@Q}"),
    *("\\ ", "\\'", '\\"', "\\$", "\\\\", "\\*", "\\~", "\\{", "\\,", "\\\n", "\\;", "\\#", "\\a"),
    *("$'a'", "$'a\\'b'", "$'\\n'", "$'\\x41'", "$'\\101'", "$'a b'", "$'\\cA'", "$'\\u41'"),
    *("$'\\q'", "$'\\x'", "$'\\x414'", "$'\\u00e9'"),
    *("{1..3}", "{a..c}", "{3..1}", "{1..5..2}", "{01..3}", "{a..C}", "{1..a}", "{..}", "{1..}"),
    *("{", "}", ",", "{}", "{,", ",}", "{a}", "{a,b", "{~,x}", "{,a}~"),
    *("*", "?", "[ab].txt", "*.txt", "[!a]*", "~", "~/", "~+", "~-", "~nobody0", "/", "=~/", ":~/"),
    *("$((1+1))", "$((1+$#))", "`show 1 a`", "`show 1 \\$V`", "`show 1 'a b'`"),
]  # fmt: skip
IN_QUOTES = [
    "a", " ", "$V", "${V}", "$E", "$@", "$HOME", "$PWD", "$U", '\\"', "\\\\", "\\$", "\\`", "\\\n",
    "\\a", "'", "*", "{a,b}", "~", "#", "!", "$", "$((1+1))", "`show 1`",
]  # fmt: skip
REDIRECTS = [
    ">o1", "> o2", ">>o1", "2>&1", "2>/dev/null", "<a.txt", "&>o3", ">&o4", ">|o5", "1>o6", "<&0",
    ">&2", "2>&-", "3>o7", "9<a.txt", "&>>o8", "<<<", "{fd}>o9", ">&-", "-2>o1",
]  # fmt: skip


def _joined(parts: st.SearchStrategy[str], least: int, most: int) -> st.SearchStrategy[str]:
    return st.lists(parts, min_size=least, max_size=most).map("".join)


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quoted = _joined(st.sampled_from(IN_QUOTES), 0, 3).map('"{}"'.format)
    list_parts = st.lists(_joined(inner, 0, 2), min_size=1, max_size=3)
    run = _joined(inner, 0, 2)
    return st.one_of(
        quoted,
        list_parts.map(lambda parts: "{" + ",".join(parts) + "}"),
        run.map(lambda text: f"$(show 2 {text})"),
        run.map(lambda text: f'"$(show 2 {text})"'),
        run.map(lambda text: f"<(show 3 {text})"),
        run.map(lambda text: f"${{U:-$(show 4 {text})}}"),
    )


words = _joined(st.recursive(st.sampled_from(PIECES), _nested, max_leaves=4), 1, 3)
redirects = st.one_of(
    st.sampled_from(REDIRECTS),
    words.filter(lambda word: "/" not in word).map("<<<{}".format),
)


@st.composite
def simple_commands(draw: st.DrawFn) -> str:
    parts = [draw(st.sampled_from(["", "", "", "A=", "A+=b", "A[1]=", "command", "time", ">o1"]))]
    parts.append(draw(st.sampled_from(["show"] * 6 + ["'show'", "sh\\ow", 'sh""ow', "{show,}"])))
    parts += draw(st.lists(st.one_of(words, words, words, redirects), max_size=4))
    blank = draw(st.sampled_from([" ", " ", " ", "\t", "  ", " \\\n", "\\\n "]))
    return blank.join(part for part in parts if part)


HERE_DOCUMENTS = [
    "show <<E\na $V\nE", "show <<'E' y\n$(show 5)\nE", "show <<-E | show 6\n\ta\n\tE",
    "show <<E && show 7\n`show 8`\nE", 'show <<"E" >o1 z\nE \nE', "show <<\\E; show 6\n\\\nE",
]  # fmt: skip
SURROUNDINGS = [
    "{}", "{}", "{}", "( {} )", "{{ {}; }}", "if {}; then show t; else show e; fi", "! {}",
    "for i in a $V; do {} $i \"$i\"; done", "case a in a|b) {};; esac", "while {}; do break; done",
    "[[ -n x ]] && {}", "f() {{ {} \"$@\"; }}; f 1 2", "{} & wait",
]  # fmt: skip
commands = st.one_of(
    st.tuples(st.sampled_from(SURROUNDINGS), simple_commands()).map(
        lambda pair: pair[0].format(pair[1])
    ),
    st.sampled_from(HERE_DOCUMENTS).map("{}\n".format),
)


@st.composite
def scripts(draw: st.DrawFn) -> str:
    text = draw(commands)
    for following in draw(st.lists(commands, max_size=2)):
        text += draw(st.sampled_from(["\n", "; ", " && ", " || ", " | ", " # c\n"])) + following
    return text


@settings(max_examples=examples(100))
@given(scripts())
def test_arguments_are_what_bash_passes(shell: Shell, command: str) -> None:
    _check(command, shell)


@settings(max_examples=examples(60))
@given(
    _joined(st.sampled_from([*"{},{},..a13b~/=:$-", "''", '"', "'x'", "\\,", "$V", "$HOME"]), 2, 10)
)
def test_braces_are_what_bash_makes_of_them(shell: Shell, word: str) -> None:
    _check(f"show {word}", shell)


SEEN = [
    'show "$$(a "b" )"',
    "show >&'$(show 1)f'", "show {~,x}/.ssh", "show {,a}~/x", "show of=~/x", "show a=b:~/c",
    "show ~'/x'", "show $HOME{a,b}/../x", "show {a,$PWD}b", 'show "$PWD\\\na/x"', "show {a,}{,b}",
    "show {a},../x}", "show {1..5..2} x", "show $'\\u00e9'", "show {fd}>o1 x", "show 2>&- x",
    "show <&- x", "show -2>o1", "show a<<<b\\c d", "show {1..3}\\${1..3}", "A=\\\n show 1 x",
    "A[1]=\\\n\tshow 1 x", ">{\\$}a show 1", "show {a,b}\\\n 3>o1", 'show "$@"', "show $!",
    'show "${@}"', "show a=~+", "show ~{-1..1}", "show {Y..b}", "show ${U:-{a,b}}{c,d}",
]  # fmt: skip


@pytest.mark.parametrize("command", SEEN)
def test_what_was_read_wrongly(shell: Shell, command: str) -> None:
    _check(command, shell)


@pytest.mark.parametrize("command", ["show {a,b}c", "show ~/x of=~/x", 'show "$HOME"/{a,b} 2>&1'])
def test_usual_commands_are_understood(shell: Shell, command: str) -> None:
    assert _check(command, shell)
