"""Build tools that are started in a directory outside the working directories: `cd .. && make`.

They change files of their own choice there. Nothing says which, so a user is asked; a place that
is named to the tool itself (`make -C ..`) is a proven place and denied.
"""

from __future__ import annotations

from permissions.decision import Behavior, Reason
from permissions.scope.scope import Floor, Scoped
from permissions.shell.command_facts import CommandFacts
from permissions.shell.flow.working_directories import UNKNOWN_FOLDER
from permissions.shell.programs.registry import program_named


def build_directory_floor(scoped: Scoped, facts: CommandFacts) -> Floor | None:
    """Ask when a build tool runs where `cd` led out of the working directories."""
    for one in facts.with_inner():
        program = next(
            (form.head for form in one.deny_forms if program_named(form.head).builds), None
        )
        if program is None or one.is_read_only:
            continue
        scope = scoped.scope
        if one.folders == {scope.launch}:
            continue
        for folder in sorted(one.folders - {UNKNOWN_FOLDER}):
            target = scope.resolve(folder)
            if target is None or not scope.contains(target):
                return Floor(
                    Behavior.ASK,
                    Reason.SCOPE_BOUNDS_VIOLATION,
                    f"runs {program} in {folder}, outside the working directories",
                )
    return None
