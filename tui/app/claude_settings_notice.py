"""A notice, shown once for each project, about what was read from Claude Code's files."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from permissions.base.files.plain_file import read_plain
from permissions.base.text.count_text import count_text

if TYPE_CHECKING:
    # For annotations only: this is imported before the first frame, these modules after it.
    from agent.commands.service import CommandService
    from agent.commands.spec import Command
    from agent.settings.load import Settings
    from agent.subagents.definition import AgentDefinition

DIRECTORY: Final = ".claude"
MEMORY: Final = "found-settings.json"
MAX_PROJECTS: Final = 500
MAX_PROBLEMS: Final = 3
"""Maximum number of lines about faulty command files at a start."""
_COUNTED: Final = frozenset({"permissions", "hooks"})


async def notes_of_start(command_service: CommandService) -> tuple[list[str], list[str]]:
    """Return the messages about files for a conversation's directory: warnings, then notices.

    Findings of another program are reported once for each project, and again when they change.
    """
    await command_service.ready()
    context, custom = command_service.context, command_service.custom
    warnings = [_with_home(str(problem), context.home) for problem in custom.problems]
    if len(warnings) > MAX_PROBLEMS:
        more = len(warnings) - MAX_PROBLEMS + 1
        warnings[MAX_PROBLEMS - 1 :] = [f"{more} more command files have errors: /skills"]
    notices = []
    if custom.waiting:
        names = ", ".join(f"/{name}" for name in custom.waiting[:5])
        verb = "waits" if len(custom.waiting) == 1 else "wait"
        notices.append(f"{names} of this project {verb} for trust: /trust")
    files_notice = await news_of_found(
        context.settings(),
        custom.commands(),
        await asyncio.to_thread(context.agents.catalog.all),
        home=context.home,
        agent_home=context.agent_home,
    )
    return warnings, [*notices, files_notice] if files_notice else notices


def found_text(
    settings: Settings,
    commands: Sequence[Command],
    home: Path,
    agents: Sequence[AgentDefinition] = (),
) -> str:
    """Return what applies of `.claude` files, and what does not; "" if there are none."""
    keys = [_short(path, settings, home) for path in _keys_in_force(settings, home)]
    instructions = _instructions(settings, home)
    parts = [*_files(settings, home), *keys, *instructions, *_commands(commands), *_agents(agents)]
    sentences = []
    if parts:
        sentences.append(
            f"Used from Claude Code's files: {'; '.join(parts)}. "
            ".agent files take precedence; /status lists the files."
        )
    unused_names = [*_keys_without_effect(settings), *_unused_files(settings, home)]
    if unused_names:
        sentences.append(f"Not used here: {', '.join(dict.fromkeys(unused_names))}.")
    return " ".join(sentences)


async def news_of_found(
    settings: Settings,
    commands: Sequence[Command],
    agents: Sequence[AgentDefinition] = (),
    *,
    home: Path,
    agent_home: Path,
) -> str:
    """Return `found_text` once for each project, and again when it changes; otherwise ""."""
    text = found_text(settings, commands, home, agents)
    if not text:
        return ""
    project = str(settings.project_root)
    is_new = await asyncio.to_thread(_remember, agent_home / "cache" / MEMORY, project, text)
    return text if is_new else ""


def _keys_without_effect(settings: Settings) -> Iterator[str]:
    from agent.settings.describe import has_effect  # after the first frame

    for key, origin in settings.effective.origins.items():
        is_theirs = origin.file is not None and DIRECTORY in Path(origin.file).parts
        if is_theirs and not key.startswith("$") and not has_effect(key):
            yield key


def _instructions(settings: Settings, home: Path) -> Iterator[str]:
    for path in (home / DIRECTORY / "CLAUDE.md", settings.project_root / "CLAUDE.md"):
        if os.path.isfile(path):
            yield _short(path, settings, home)


def _unused_files(settings: Settings, home: Path) -> Iterator[str]:
    """Yield Claude Code's files and directories that have no effect here."""
    for base in dict.fromkeys((home / DIRECTORY, settings.project_root / DIRECTORY)):
        for name in ("plugins", "output-styles"):
            if os.path.isdir(base / name):
                yield _short(base / name, settings, home)
    keys = home / DIRECTORY / "keybindings.json"
    if os.path.isfile(keys) and keys not in _keys_in_force(settings, home):
        yield _short(keys, settings, home)


def _keys_in_force(settings: Settings, home: Path) -> list[Path]:
    """Return Claude Code's keybindings file if it applies: the user has none for agent-tui."""
    from tui.app.keybindings_watch import keys_path  # after the first frame

    path = keys_path(settings.agent_home, home)
    return [path] if DIRECTORY in path.parts and os.path.isfile(path) else []


def _with_home(text: str, home: Path) -> str:
    return text.replace(f"{home}{os.sep}", f"~{os.sep}")


def _files(settings: Settings, home: Path) -> Iterator[str]:
    from agent.settings.describe import has_effect  # after the first frame

    for path in settings.watched_files:
        if DIRECTORY not in path.parts or not os.path.isfile(path):
            continue
        name = str(path)
        rules = sum(1 for rule in settings.rules if rule.file == name)
        handlers = sum(_handlers(layer.raw) for layer in settings.hooks if layer.file == path)
        keys = sorted(
            key
            for key, origin in settings.effective.origins.items()
            if str(origin.file) == name and has_effect(key) and key not in _COUNTED
        )
        facts = [
            *([count_text(rules, "rule")] if rules else []),
            *([count_text(handlers, "hook")] if handlers else []),
            *keys,
        ]
        if facts:
            yield f"{_short(path, settings, home)} ({', '.join(facts)})"


def _handlers(hooks: Mapping[str, object]) -> int:
    groups = [group for entries in hooks.values() if isinstance(entries, list) for group in entries]
    return sum(
        len(handlers)
        for group in groups
        if isinstance(group, Mapping) and isinstance(handlers := group.get("hooks"), list)
    )


def _commands(commands: Sequence[Command]) -> Iterator[str]:
    count = sum(
        1 for command in commands if command.meta.file and DIRECTORY in command.meta.file.parts
    )
    if count:
        yield count_text(count, "command")


def _agents(agents: Sequence[AgentDefinition]) -> Iterator[str]:
    count = sum(1 for one in agents if one.path is not None and DIRECTORY in one.path.parts)
    if count:
        yield "1 agent" if count == 1 else f"{count} agents"


def _short(path: Path, settings: Settings, home: Path) -> str:
    root = settings.project_root
    if path.is_relative_to(root) and root != home:
        return str(path.relative_to(root))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _remember(file: Path, project: str, text: str) -> bool:
    """Record that this was shown for a project; return whether it is new."""
    from permissions.base.files.private_file import write_private  # with the first notice

    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    try:
        data = json.loads(read_plain(file))
    except (OSError, ValueError, RecursionError):
        data = {}
    digests = data if isinstance(data, dict) else {}
    if digests.get(project) == digest:
        return False
    digests.pop(project, None)
    recent = dict(list(digests.items())[-MAX_PROJECTS + 1 :])
    try:
        write_private(file, json.dumps({**recent, project: digest}).encode(), sync=False)
    except OSError:
        # The notice is shown again next time.
        return True
    return True
