"""What was read from Claude Code's files, said once: a person who switches should not wonder."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    # This is part of the screen, and all of that is read behind the first frame.
    from agent.commands.center import CommandCenter
    from agent.commands.spec import Command
    from agent.settings.load import Settings

FOLDER: Final = ".claude"
MEMORY: Final = "found-settings.json"
MAX_PROJECTS: Final = 500


async def found_here(center: CommandCenter) -> str:
    """Return what there is to say for a conversation's folder, once; empty otherwise."""
    context = center.context
    return await news_of_found(
        context.settings(),
        center.custom.commands(),
        home=context.home,
        agent_home=context.agent_home,
    )


def found_text(settings: Settings, commands: Sequence[Command], home: Path) -> str:
    """Return what counts of `.claude` files here, as one line; empty where nothing does."""
    parts = [*_files(settings, home), *_commands(commands)]
    if not parts:
        return ""
    return (
        f"In force from Claude Code's files: {'; '.join(parts)}. "
        "What .agent files say counts more; /status lists the files."
    )


async def news_of_found(
    settings: Settings, commands: Sequence[Command], *, home: Path, agent_home: Path
) -> str:
    """Return the line once for each project, and again when it changes; empty otherwise."""
    text = found_text(settings, commands, home)
    if not text:
        return ""
    project = str(settings.project_root)
    is_new = await asyncio.to_thread(_remember, agent_home / "cache" / MEMORY, project, text)
    return text if is_new else ""


def _files(settings: Settings, home: Path) -> Iterator[str]:
    for path in settings.watched:
        if FOLDER not in path.parts or not path.is_file():
            continue
        name = str(path)
        rules = sum(1 for rule in settings.rules if rule.file == name)
        handlers = sum(_handlers(layer.raw) for layer in settings.hooks if layer.file == path)
        keys = sorted(
            key
            for key, origin in settings.merged.origins.items()
            if str(origin.file) == name and key not in {"permissions", "hooks"}
        )
        facts = [
            *([_counted(rules, "rule")] if rules else []),
            *([_counted(handlers, "hook")] if handlers else []),
            *keys,
        ]
        if facts:
            yield f"{_short(path, home)} ({', '.join(facts)})"


def _handlers(hooks: Mapping[str, object]) -> int:
    groups = [group for entries in hooks.values() if isinstance(entries, list) for group in entries]
    return sum(
        len(handlers)
        for group in groups
        if isinstance(group, Mapping) and isinstance(handlers := group.get("hooks"), list)
    )


def _commands(commands: Sequence[Command]) -> Iterator[str]:
    count = sum(
        1 for command in commands if command.meta.file and FOLDER in command.meta.file.parts
    )
    if count:
        yield _counted(count, "command")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _short(path: Path, home: Path) -> str:
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _remember(file: Path, project: str, text: str) -> bool:
    """Note that this was said of a project; return whether it is new."""
    from agent.settings.private_file import write_private  # with the first note

    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    try:
        data = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        data = {}
    known = data if isinstance(data, dict) else {}
    if known.get(project) == digest:
        return False
    known.pop(project, None)
    kept = dict(list(known.items())[-MAX_PROJECTS + 1 :])
    try:
        write_private(file, json.dumps({**kept, project: digest}).encode(), sync=False)
    except OSError:
        # Said once more next time.
        return True
    return True
