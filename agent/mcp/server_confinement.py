"""Confines the program of a server that the user did not configure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.sandbox import RunRequest, Sandbox
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement


def server_confinement(
    sandbox: Sandbox, works_inside: Callable[[], bool]
) -> Callable[[ServerDefinition, Launch], Awaitable[Launch]]:
    """Return a function that confines servers of projects and plugins, and those whose entry
    requests it: they write only working directories, package caches and their plugin's data.

    Args:
        works_inside: Whether the user works inside the sandbox; then a server reaches only allowed
            hosts, and asks about others, like commands of the model.
    """

    async def confine_launch(definition: ServerDefinition, program: Launch) -> Launch:
        if not (definition.is_foreign or definition.entry.get("sandbox") is True):
            return program
        plugin = definition.plugin
        request = RunRequest(
            Confinement.PROJECT if works_inside() else Confinement.PROJECT_FILES,
            write_dirs=(str(plugin.data),) if plugin is not None else (),
            visible=(str(plugin.root),) if plugin is not None else (),
            word_paths=tuple(word for word in program.argv[1:] if word.startswith("/")),
        )
        call = NetworkCall(f"MCP server {definition.name}", f"MCP server {definition.name}")
        return await sandbox.launch_call(program, request, call)

    return confine_launch
