"""What allowed commands cannot do at level `files`, where Landlock confines them."""

from __future__ import annotations

from permissions.confinement import SandboxLevel
from permissions.evaluate.call_view import CallView
from permissions.shell.command_facts import CommandFacts
from permissions.shell.effects.connections import connections


def beyond_files(view: CallView, facts: CommandFacts) -> str:
    """Return, in words, what a command needs that would be refused; "" for nothing.

    Needs that are not known here are refused when it runs, and the user is asked then.
    """
    if view.level is not SandboxLevel.FILES:
        return ""
    writes_repositories = view.context.sandbox.git_writes
    for one in facts.with_inner():
        if one.is_read_only:
            continue
        for program, _ in connections(one):
            return f"{program} needs the network"
        if not writes_repositories and any(form.head == "git" for form in one.deny_forms):
            return "git writes the repository"
    return ""
