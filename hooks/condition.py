"""The `if` of a handler: one permission rule, asked before anything is started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

EXPANDS: Final = re.compile(r"\$\(|`|\$\{?[A-Za-z_]")


def applies(
    condition: str,
    tool: str,
    tool_input: Mapping[str, object],
    *,
    cwd: Path,
    project_root: Path,
    home: Path,
) -> bool:
    """Return whether a handler with this condition has to run for a call.

    Errs towards running: a guard that is skipped because a command was too clever guards nothing.
    """
    from permissions.rule import matches  # moves to the top with the next commit

    if tool == "Bash" and _is_open_ended(condition, str(tool_input.get("command", ""))):
        return True
    return matches(condition, tool, tool_input, cwd=cwd, project_root=project_root, home=home)


def _is_open_ended(condition: str, command: str) -> bool:
    """A Bash pattern of more than a program's name can't be told for text the shell fills in."""
    name, _, specifier = condition.partition("(")
    if name.strip() != "Bash" or not specifier:
        return False
    words = specifier.rstrip(") ").removesuffix(":*").split()
    return len(words) > 1 and EXPANDS.search(command) is not None
