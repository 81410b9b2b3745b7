"""Keeps Python from importing modules of a project when a program of the user runs in it.

`python3 -c "import json"` loads `json.py` of the current directory, if there is one. A hook or a
status line runs there as the user and unconfined, and the model or the project's author decides
which files are there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from permissions.base.text.late_pattern import compile_late

_VARIABLE: Final = "PYTHONSAFEPATH"
"""Since Python 3.11; older versions ignore it."""
_CODE: Final = compile_late(
    r"\b(?:python|pypy)[\d.]*(?:\s+-[XW]\s*\S+|\s+-[abd-zA-Z]+)*?"
    r"(?:\s+-[A-Za-z]*c\b|\s+-(?=\s|$)|\s*<<|\s+-m\s+json\.tool\b|\s*(?=[;|&)\n]|$))"
)
_PYTHON: Final = compile_late(r"(?:python|pypy)[\d.]*")
_SEPARATORS: Final = compile_late(r"""[\s'"`;|&<>(){}]+""")
_SEARCH_PATHS: Final = ("PATH", "PYTHONPATH")
_MAX_WORDS: Final = 50
_MAX_BYTES: Final = 65_536


def safe_python(command: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return the variables to add for a shell command of the user.

    `PYTHONSAFEPATH` if the command, or a script that it names, passes code to Python as text.
    Python programs given as a file or a module import as usual. Also search paths without their
    empty entries, which mean the current directory.
    """
    texts = (command, *map(_script, _files(command, env)))
    variables = without_empty_entries(env)
    return variables | ({_VARIABLE: "1"} if any(map(_CODE.search, texts)) else {})


def without_empty_entries(env: Mapping[str, str]) -> dict[str, str]:
    """Return those search paths that have empty entries, which mean the current directory, without
    them."""
    return {
        name: ":".join(filter(None, env[name].split(":")))
        for name in _SEARCH_PATHS
        if "" in env.get(name, "").split(":")[1:] or env.get(name, "").startswith(":")
    }


def safe_python_program(argv: Sequence[str]) -> dict[str, str]:
    """Return the variables for a program of the user from outside the project: modules that it
    names are not searched for in the current directory, either."""
    is_python = _PYTHON.fullmatch(os.path.basename(argv[0])) is not None
    options = [word for word in argv[1:] if word.startswith("-")][:1]
    return {_VARIABLE: "1"} if is_python and options and options[0][-1] in "cm" else {}


def _files(command: str, env: Mapping[str, str]) -> list[str]:
    home = env.get("HOME", "")
    words = [word for word in _SEPARATORS.split(command) if "/" in word][:_MAX_WORDS]
    return [re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/)", lambda _: home, word) for word in words]


def _script(path: str) -> str:
    try:
        if path.endswith(".py") or not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_BYTES)
    except (OSError, ValueError):
        return ""
