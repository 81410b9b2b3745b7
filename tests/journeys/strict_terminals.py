"""Programs named as the commands of terminals that cannot be run here: they accept what is
documented of these and nothing else, and run what a pane would run, in a pseudoterminal.

`wezterm cli split-pane` as its help lists it; `osascript` with the verb that iTerm2's scripting
dictionary has for a session.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

_SPLIT = re.compile(
    r'tell application "iTerm2" to tell (current session|last session of current tab) of current '
    r"window to return unique ID of \(split (?:vertically|horizontally) with default profile "
    r'command "((?:[^"\\]|\\["\\])*)"\)'
)


def install(directory: Path) -> str:
    """Put both into a directory and return it, for `PATH`."""
    directory.mkdir()
    for name in ("wezterm", "osascript"):
        file = directory / name
        file.write_text(
            f"#!/bin/sh\nPYTHONPATH={shlex.quote(os.getcwd())} exec {sys.executable} -m "
            f'{__name__} {name} {shlex.quote(str(directory / "panes"))} "$@"\n'
        )
        file.chmod(0o755)
    return str(directory)


def main(name: str, panes: Path, arguments: Sequence[str]) -> None:
    known = panes.read_text().split() if panes.exists() else []
    command, where = (_wezterm if name == "wezterm" else _iterm2)(arguments, known)
    new = str(len(known) + 7)
    panes.write_text(" ".join([*known, new]))
    print(new)
    sys.stdout.flush()
    _run(command, where)


def _wezterm(arguments: Sequence[str], known: Sequence[str]) -> tuple[Sequence[str], str]:
    parser = argparse.ArgumentParser(prog="wezterm", allow_abbrev=False)
    split = parser.add_subparsers(required=True).add_parser("cli").add_subparsers(required=True)
    pane = split.add_parser("split-pane", allow_abbrev=False)
    pane.add_argument("--pane-id", choices=["3", *known])
    way = pane.add_mutually_exclusive_group()
    for side in ("horizontal", "left", "right", "top", "bottom"):
        way.add_argument(f"--{side}", action="store_true")
    pane.add_argument("--top-level", action="store_true")
    size = pane.add_mutually_exclusive_group()
    for one in ("cells", "percent"):
        size.add_argument(f"--{one}", type=int)
    pane.add_argument("--cwd")
    pane.add_argument("prog", nargs="+")
    given = parser.parse_args(arguments)
    return given.prog, given.cwd


def _iterm2(arguments: Sequence[str], _known: Sequence[str]) -> tuple[Sequence[str], str]:
    [option, script] = arguments
    found = _SPLIT.fullmatch(script)
    if option != "-e" or found is None:
        sys.exit(f"execution error: {script}")
    return shlex.split(re.sub(r"\\(.)", r"\1", found[2])), "/"


def _run(command: Sequence[str], where: str) -> None:
    """Run it as the terminal would: with nothing of the environment of who asked but the path."""
    if os.fork():
        return
    os.setsid()
    child, master = pty.fork()
    if not child:
        os.chdir(where)
        os.execvpe(command[0], [*command], {"PATH": "/usr/bin:/bin", "TERM": "xterm-256color"})
    for stream in (0, 1, 2):
        os.close(stream)
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        os.waitpid(child, 0)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
