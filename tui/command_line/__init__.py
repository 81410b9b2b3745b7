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
"""What the first word of a command line may be besides a prompt, with what it is for."""

WORKER: Final = "worker"
"""Runs a worker of a team; its leader starts it, no user."""
