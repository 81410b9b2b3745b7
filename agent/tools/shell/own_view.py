"""A note for commands that list processes or ports: they only see those of the sandbox."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Final

from agent.sandbox.policy import Network, SandboxPolicy
from permissions.shell.analyze import analyze
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import Unparsable

_NOTE: Final = (
    "[It ran in the sandbox and lists what is there: {what} of this machine are not seen. "
    "Conclude nothing about them; the user sees them with `!` in front of the command.]"
)


def own_view(policy: SandboxPolicy, command: str, cwd: Path, home: Path) -> str:
    """Return the note for the model; empty for other commands."""
    facts = analyze(command, str(cwd), str(home))
    if isinstance(facts, Unparsable):
        return ""
    parts = chain.from_iterable(one.with_inner() for one in facts)
    programs = {form.head.rpartition("/")[2] for one in parts for form in one.deny_forms}
    shown_kinds = {program_named(name).shows for name in programs}
    hidden_kinds = ["processes"] if "processes" in shown_kinds else []
    if "ports" in shown_kinds and policy.network is not Network.HOST:
        hidden_kinds.append("ports")
    return _NOTE.format(what=" and ".join(hidden_kinds)) if hidden_kinds else ""
