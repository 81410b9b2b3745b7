"""Edits of the files that a loop goes through, in accept edits mode."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior
from permissions.mode import Mode
from tests.permissions.engine import Engine

CERTAIN = [
    'for f in a.txt b.txt; do sed -i s/x/y/ "$f"; done',
    'for f in a.txt b.txt; do cp "$f" "$f"; done', 'for d in src/x src/y; do mkdir -p "$d"; done',
    'for d in src/x src/y; do mkdir -p "$d" && touch "$d"; done', 'for f in a b; do rm "$f"; done',
    'for f in src/a.py; do mv "$f" docs/; done',
]  # fmt: skip
UNCERTAIN = [
    'for f in a.txt ../x; do sed -i s/x/y/ "$f"; done', 'for f in a.txt /etc/x; do rm "$f"; done',
    'for f in .git/config; do sed -i s/x/y/ "$f"; done',
    'for f in a.txt; do f=/etc/x; rm "$f"; done', 'for f in a.txt; do read f; rm "$f"; done',
    'for f in a.txt; do ls {f}>x; rm "$f"; done',
    'for f in a.txt; do declare -n r=f; r=/etc/x; rm "$f"; done',
    'for f in a.txt; do : $((f=3)); rm "$f"; done', 'for f in a.txt; do ((f=3)); rm "$f"; done',
    'for f in a.txt; do [[ f=3 -eq 3 ]]; rm "$f"; done',
    'for f in a.txt; do : ${f:=/etc}; rm "$f"; done',
    'for f in a.txt; do : ${g:=/etc}; rm "$f"; done', 'for f in a.txt; do let f=3; rm "$f"; done',
    'for f in a.txt; do export f=/x; rm "$f"; done',
    'for f in a.txt; do printf -v f /x; rm "$f"; done', 'for f in a.txt; do $X; rm "$f"; done',
    'for f in a.txt; do . ./x; rm "$f"; done',
    '''for f in a.txt; do trap 'f=/x' DEBUG; rm "$f"; done''',
    'for f in a.txt; do coproc f { :; }; rm "$f"; done',
    'for f in a.txt; do select f in /x; do rm "$f"; done; done',
    'for f in a.txt; do for f in /etc/x; do :; done; rm "$f"; done',
    'for f in a.txt; do f+=/../../x; rm "$f"; done', 'for f in a.txt; do f[0]=/x; rm "$f"; done',
    'for f in a.txt; do cd ..; rm "$f"; done', 'for f in a.txt; do cd /; rm "$f"; done',
    'for f in -rf; do rm "$f" .; done', 'for f in *; do rm "$f"; done',
    'for f in . ; do cp sub/.npmrc "$f"; done', 'for f in .git; do cp a.txt "$f"; done',
    'for f in outlink; do cp a.txt "$f"; done', 'for f in dangling; do touch "$f"; done',
    'for f in a b; do for g in a .git/config; do cp "$f" "$g"; done; done',
    'for f in a.txt e/id; do sed -i "$f" c.txt; done',
    'for f in a.txt w../x; do sed -i "$f" c.txt; done',
    'for f in e/id w/x; do sed -i "$f" c.txt; done',
    'f() { rm "$1"; }; for x in a; do f /etc/x; done',
    'for f in a.txt; do mapfile f; rm "$f"; done', 'for f in a.txt; do getopts x f; rm "$f"; done',
    'for f in a.txt; do wait -p f; rm "$f"; done', 'for f in a.txt; do unset f; rm "$f"; done',
    'for f in a.txt; do g() { f=/x; }; g; rm "$f"; done',
    'for f in .env sub; do rm -rf "$f" / ; done', 'for f in a.txt; do rm "$f/../../x"; done',
    'for f in .agent; do mkdir "$f"; done',
]  # fmt: skip


@pytest.mark.parametrize("command", CERTAIN)
def test_files_that_a_loop_names_are_edited(engine: Engine, command: str) -> None:
    found = engine.bash(command, mode=Mode.ACCEPT_EDITS)
    assert found.behavior is Behavior.ALLOW, found.message


@pytest.mark.parametrize("command", UNCERTAIN)
def test_what_a_loop_may_change_is_asked_about(engine: Engine, command: str) -> None:
    assert engine.bash(command, mode=Mode.ACCEPT_EDITS).behavior is not Behavior.ALLOW


def test_a_deny_is_about_each_file(engine: Engine) -> None:
    command = 'for f in a.txt .env; do rm "$f"; done'
    found = engine.bash(command, deny=["Edit(.env)"], mode=Mode.ACCEPT_EDITS)
    assert found.behavior is Behavior.DENY
