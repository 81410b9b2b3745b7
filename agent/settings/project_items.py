"""Find and list the items of a project that wait for trust; nothing is run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from agent.settings.file import LoadedFile
from agent.settings.project_root import project_directories
from agent.settings.rules import rules_of
from agent.settings.sections.project_limits import is_forbidden_variable
from agent.settings.servers.mcp_file import servers_of
from agent.settings.trust import ItemKind, TrustItem, allow_rule_item, item
from permissions.base.files.directory_trees import walk
from permissions.base.files.plain_file import read_plain
from permissions.rule import RuleBehavior

MAX_FILES: Final = 2_000
"""The same limit as for commands: a file that is not listed could never be trusted."""
MAX_FILE_BYTES: Final = 1_000_000
_DIRECTORIES: Final[tuple[tuple[str, ItemKind], ...]] = (
    ("commands", "command"),
    ("skills", "skill"),
    ("agents", "agent"),
)
_MAIN_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("command", "args"),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}
"""By type of a hook's handler, what it runs."""
_UNSHOWN_FIELDS: Final = ("type", "timeout", "statusMessage")
WAITING_SETTINGS: Final = ("model", "smallFastModel", "fallbackModel", "disableAllHooks")
"""Scalars of a project that change what runs or what it costs; they wait for trust as well."""


def items_of_file(settings_file: LoadedFile) -> Iterator[TrustItem]:
    """List what one project or local settings file contains."""
    file = settings_file.path
    for rule in rules_of(settings_file)[0]:
        if rule.behavior is RuleBehavior.ALLOW:
            yield allow_rule_item(rule.text, file=file, line=rule.line)
    yield from _hook_items(settings_file)
    yield from _value_items(settings_file)


def _hook_items(settings_file: LoadedFile) -> Iterator[TrustItem]:
    for event, groups in (settings_file.model.hooks or {}).items():
        line = settings_file.line_of("hooks", event)
        for group, handler in handlers(groups):
            yield hook_item(event, group, handler, file=settings_file.path, line=line)


def _value_items(settings_file: LoadedFile) -> Iterator[TrustItem]:
    file = settings_file.path
    for server in servers_of(settings_file).servers:
        yield server_item(server.name, server.raw, file=file, line=server.line)
    for name, value in (settings_file.model.env or {}).items():
        if not is_forbidden_variable(name):
            yield variable_item(name, value, file=file, line=settings_file.line_of("env", name))
    if settings_file.model.statusLine is not None:
        line = settings_file.line_of("statusLine")
        yield status_line_item(settings_file.model.statusLine.command, file=file, line=line)
    for key in WAITING_SETTINGS:
        value = getattr(settings_file.model, key)
        if value is not None:
            yield setting_item(key, value, file=file, line=settings_file.line_of(key))


def handlers(groups: object) -> Iterator[tuple[dict[str, object], Any]]:
    """Yield `(matcher group, handler)` of one event's configuration; skip malformed parts.

    One group in place of a list is read as a list of one, as `hooks.config.section` does.
    """
    for group in groups if isinstance(groups, list) else (groups,):
        if isinstance(group, dict):
            entries = group.get("hooks")
            for handler in entries if isinstance(entries, list) else ():
                yield group, handler


def hook_item(
    event: str, group: Mapping[str, object], handler: Any, *, file: Path | None, line: int | None
) -> TrustItem:
    """Return the item of one hook handler."""
    matcher = group.get("matcher") or "*"
    what = _handler_text(handler) if isinstance(handler, dict) else str(handler)
    content = [event, {k: v for k, v in group.items() if k != "hooks"}, handler]
    return item("hook", f"{event} ({matcher}): {what}", content, file=file, line=line)


def _handler_text(handler: Mapping[str, object]) -> str:
    """Return what a handler runs, by its type, and every other field that it has."""
    kind = str(handler.get("type") or "command")
    keys = _MAIN_FIELDS.get(kind, ())
    words = [str(handler[key]) for key in keys if key in handler and key != "args"]
    args = handler.get("args")
    if "args" in keys and isinstance(args, list):
        words += map(str, args)
    text = ".".join(words) if kind == "mcp_tool" else " ".join(words)
    others = {k: v for k, v in handler.items() if k not in (*keys, *_UNSHOWN_FIELDS)}
    if not text:
        return json.dumps(handler, default=str, ensure_ascii=False)
    return f"{text} {json.dumps(others, default=str, ensure_ascii=False)}" if others else text


def server_item(name: str, raw: object, *, file: Path | None, line: int | None) -> TrustItem:
    """Return the item of one MCP server."""
    what = "…"
    if isinstance(raw, dict):
        is_program = raw.get("type") in (None, "stdio")
        words = [str(raw.get("command", "")), *_args(raw)]
        what = " ".join(words) if is_program else str(raw.get("url") or "")
    return item("MCP server", f"{name}: {what}", [name, raw], file=file, line=line)


def variable_item(name: str, value: str, *, file: Path | None, line: int | None) -> TrustItem:
    """Return the item of one environment variable."""
    label = f"{name}={value}"
    return item("environment variable", label, [name, value], file=file, line=line)


def status_line_item(command: str, *, file: Path | None, line: int | None) -> TrustItem:
    """Return the item of a status line command."""
    return item("status line", command, command, file=file, line=line)


def setting_item(key: str, value: object, *, file: Path | None, line: int | None) -> TrustItem:
    """Return the item of a setting that waits for trust."""
    label = f"{key}: {json.dumps(value, default=str)}"
    return item("setting", label, [key, value], file=file, line=line)


def items_of_directories(
    project_root: Path, own: Iterable[Path] = (), *, launch_dir: Path | None = None
) -> Iterator[TrustItem]:
    """List command, skill and agent files with a digest of their content.

    `own` are the user's own directories, which do not count as a project's in the home directory.
    `launch_dir` is where the session starts; None means the root.
    """
    own_directories = {os.path.realpath(path) for path in own}
    files = (
        (path, kind)
        for place in project_directories(project_root, launch_dir or project_root)
        for base in (".agent", ".claude")
        if os.path.realpath(place / base) not in own_directories
        for directory, kind in _DIRECTORIES
        for path in _files_of(place / base / directory, kind, project_root)
    )
    for path, kind in islice(files, MAX_FILES):
        file_entry = file_item(path, kind, project_root)
        if file_entry is not None:
            yield file_entry


def file_item(path: Path, kind: ItemKind, project_root: Path) -> TrustItem | None:
    """Return the item of a command, skill or agent file; None if unreadable or too large."""
    try:
        return content_item(path, kind, project_root, read_plain(path, MAX_FILE_BYTES))
    except OSError:
        return None


def content_item(path: Path, kind: ItemKind, project_root: Path, data: bytes) -> TrustItem:
    """Return the item of a file with this content; its digest covers path and content."""
    name = str(path.relative_to(project_root))
    return item(kind, name, [name, hashlib.sha256(data).hexdigest()], file=path)


def _files_of(directory: Path, kind: ItemKind, project_root: Path) -> Iterator[Path]:
    yield from _markdown_files(directory)
    if kind != "skill":
        return
    # Projects often link the skills of several agents to one folder.
    inside = os.path.join(os.path.realpath(project_root), "")
    _, names, _ = next(walk(directory), ("", [], []))
    for link in sorted(filter(os.path.islink, (directory / name for name in names))):
        skill_file = link / "SKILL.md"
        if os.path.realpath(skill_file).startswith(inside) and os.path.isfile(skill_file):
            yield skill_file


def _markdown_files(directory: Path) -> Iterator[Path]:
    for where, names, files in walk(directory):
        names.sort()
        for name in sorted(files):
            path = Path(where, name)
            if name.endswith(".md") and os.path.isfile(path):
                yield path


def _args(raw: Mapping[str, object]) -> list[str]:
    args = raw.get("args")
    return [str(arg) for arg in args] if isinstance(args, list) else []
