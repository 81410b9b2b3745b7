"""What holds the program of a server that somebody else configured."""

from __future__ import annotations

from collections.abc import Callable

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.sandbox.sandbox import RunRequest, Sandbox
from permissions.base.process.spawn import Confine
from permissions.confinement import Confinement


def server_confinement(
    sandbox: Sandbox, works_inside: Callable[[], bool]
) -> Callable[[ServerDefinition], Confine]:
    """Return what confines each server: one of a project or a plugin, and one whose entry asks for
    it, writes the working directories and package caches alone.

    Args:
        works_inside: Whether the user works inside the sandbox; then a server has no network
            either, as the commands of the model have none but through the proxy.
    """

    def confinement(definition: ServerDefinition) -> Confine:
        if not (definition.is_foreign or definition.written.get("sandbox") is True):
            return lambda program: program
        held = Confinement.PROJECT if works_inside() else Confinement.PROJECT_FILES
        return sandbox.confine_where_held(RunRequest(held))

    return confinement
