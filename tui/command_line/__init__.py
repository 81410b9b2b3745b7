"""Options, subcommands, help."""

from __future__ import annotations

from typing import Final

SUBCOMMANDS: Final = {
    "permissions": "Check, explain, lint and replay rules, and suggest rules.",
    "hooks": "List hooks, or fire one.",
    "sessions": "List, show, search, export and repair conversations.",
    "doctor": "Check the installation and the settings, and suggest fixes.",
    "sandbox": "Show what confines commands, and run one command confined.",
    "agents": "List, read, stop and follow background sessions.",
    "mcp": "Add, list and remove MCP servers.",
    "workflow": "Run workflows, and list, show and stop runs.",
    "config": "Show the settings in force and which file set each, or set one.",
    "update": "Show how to update this installation.",
    "completion": "Print the completion script for bash, zsh or fish.",
}
"""Subcommands, each with its purpose."""

WORKER: Final = "worker"
"""Subcommand that runs a worker of a team; the leader starts it, not a user."""
