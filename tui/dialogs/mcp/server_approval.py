"""The question whether a project's server may start, with what it runs and what has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agent.display import DiffDisplay
from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.consent_store import ConsentAnswer
from agent.mcp.configuration.server_definition import ServerDefinition
from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.choices import Choice
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row
from tui.text.wrap import wrap
from tui.transcript.diff.change_rows import diff_rows

_RUNS: Final = (
    "A program from {}. It runs as you, with only the environment variables named "
    "here, and confined to the project where this machine supports that."
)
_REPLACES: Final = "It replaces your own server {}, and your rules for that server apply to it."
_FREE: Final = "A program that runs as you; nothing confines it."
_LATEST: Final = "No version is pinned: it runs the latest published one each time it starts."
_RUNNERS: Final = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx"})


def server_approval(server: ConfiguredServer) -> ChoiceDialog[ConsentAnswer | None]:
    """Return the question about one server."""
    has_changed = server.earlier is not None
    question = "Start it as it is now?" if has_changed else "Start this server?"
    return ChoiceDialog(
        f"MCP server {reveal(server.definition.name)}",
        _body(server),
        question,
        [
            (Choice("Yes", "until its definition changes"), "approved"),
            (Choice("No, and do not ask again", "until its definition changes"), "rejected"),
            (Choice("Not now"), None),
        ],
        grants_trust=True,
    )


def _body(server: ConfiguredServer) -> Callable[[int], Sequence[Row]]:
    definition = server.definition

    def rows(width: int) -> list[Row]:
        lead = f"{_place(definition)} wants to start an MCP server."
        if server.earlier is not None:
            lead = f"{_place(definition)} has changed this server since you approved it."
        body = [*wrap([(lead, TEXT)], width), BLANK]
        if server.earlier is not None:
            display = DiffDisplay("", _entry_text(server.earlier), _entry_text(definition.entry))
            body += diff_rows(display, width, highlighter=Highlighter(), indent=0)
        else:
            body += _entry_rows(definition, width)
        body.append(BLANK)
        if server.replaces_own:
            body += wrap([(_REPLACES.format(reveal(definition.name)), Ink(Role.WARNING))], width)
        for note in _notes(definition):
            body += wrap([(note, MUTED)], width)
        return body

    return rows


def _entry_rows(definition: ServerDefinition, width: int) -> list[Row]:
    rows: list[Row] = []
    for key, value in definition.entry.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if key == "args" and isinstance(value, list):
            text = " ".join(_quote(str(one)) for one in value)
        rows += wrap([(f"{reveal(key)}: ", MUTED), (reveal(text), Ink(Role.CODE))], width)
    return rows


def _quote(word: str) -> str:
    return word if word and not any(c.isspace() or c in "\"'" for c in word) else json.dumps(word)


def _entry_text(entry: Mapping[str, object]) -> str:
    return reveal(json.dumps(entry, indent=2, ensure_ascii=False, sort_keys=True))


def _notes(definition: ServerDefinition) -> list[str]:
    notes: list[str] = []
    if definition.transport == "stdio":
        owner = "this project" if definition.plugin is None else "a plugin"
        notes.append(_RUNS.format(owner) if definition.is_foreign else _FREE)
        if is_unpinned(definition):
            notes.append(_LATEST)
    else:
        notes.append("Tool inputs are sent to this address.")
    if definition.headers_helper:
        notes.append("headersHelper is a command that runs each time it connects.")
    return notes


def is_unpinned(definition: ServerDefinition) -> bool:
    """Whether a package runner such as npx is called for a package without a version."""
    runner = definition.command.rpartition("/")[2]
    package = next((one for one in definition.args if not one.startswith("-")), "")
    if runner not in _RUNNERS or not package:
        return False
    return "@" not in package[1:] and "==" not in package


def _place(definition: ServerDefinition) -> str:
    if definition.file is None:
        return "The command line"
    whose = f" of the plugin {definition.plugin.name}" if definition.plugin is not None else ""
    return reveal(f"{definition.file.name}:{definition.line}{whose}")
