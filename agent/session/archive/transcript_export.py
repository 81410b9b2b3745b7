"""Exports a session as Markdown, JSON or one self-contained HTML page."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec.structs import replace

from agent.errors import SessionError
from agent.messages import Block, Message
from agent.prompt import shell_command_note as own_command
from agent.session.record_json import message_to_json, record_of
from agent.session.record_lines import read_forwards
from agent.session.records import (
    AgentRecord,
    CompactionRecord,
    MessageRecord,
    NoticeRecord,
    Record,
    SessionHeader,
    TitleRecord,
    TombstoneRecord,
)
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize

ExportFormat = Literal["markdown", "json", "html"]
_FOR_THE_MODEL: Final = frozenset({"reminder", "hook", "continuation"})
"""Origins of the program's notes to the model, which readable exports omit."""
_INTERRUPTED: Final = "Interrupted."
_FENCE = compile_late(r"^ {0,3}(`{3,})", re.MULTILINE)

_STYLE: Final = """
:root{color-scheme:light dark}body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;
margin:2rem auto;padding:0 1rem}pre{overflow-x:auto;padding:.7rem;border-radius:.4rem;
background:color-mix(in srgb,currentColor 7%,transparent);font-size:.85rem;white-space:pre-wrap}
article{margin:1.2rem 0;padding-left:.9rem;border-left:3px solid #8888}
article.user{border-color:#3b82f6}article.assistant{border-color:#22a06b}
h2{font-size:.8rem;text-transform:uppercase;letter-spacing:.06em;opacity:.65;margin:0}
details summary{cursor:pointer;opacity:.75}.notice{opacity:.7;font-size:.9rem}
"""


def export(path: Path, form: ExportFormat) -> str:
    """Return a session's whole conversation as text.

    It includes messages before a compaction, and the messages of each agent after the call that
    started it. JSON contains every message; the readable forms omit the program's notes to the
    model.

    Raises:
        SessionError: the file cannot be read.
    """
    try:
        records = tuple(_with_agents(_records(path), _agents_of(path)))
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    match form:
        case "markdown":
            return "\n\n".join([f"# {sanitize(_title(records))}", *parts_of(records)]) + "\n"
        case "json":
            return _json(records)
        case "html":
            return _html(records)


def _agents_of(path: Path) -> dict[str, list[Record]]:
    """Return the messages of a session's agents, by the call that started each."""
    by_call: dict[str, list[Record]] = {}
    for file in sorted((path.with_suffix("") / "agents").glob("*.jsonl")):
        records = [*_records(file)]
        agent = next((one for one in records if isinstance(one, AgentRecord)), None)
        call = agent.tool_use_id if agent is not None else ""
        messages = (one for one in records if isinstance(one, MessageRecord))
        by_call.setdefault(call, []).extend(replace(one, agent_id=file.stem) for one in messages)
    return by_call


def _with_agents(records: Iterable[Record], agents: dict[str, list[Record]]) -> Iterator[Record]:
    """Yield records, with those of agents after their calls, and the remaining ones at the end."""
    yield from _insert_agents(records, agents)
    while agents:
        yield from _insert_agents(agents.pop(next(iter(agents))), agents)


def _insert_agents(records: Iterable[Record], agents: dict[str, list[Record]]) -> Iterator[Record]:
    for record in records:
        yield record
        if isinstance(record, MessageRecord):
            for use in record.message.tool_uses():
                yield from _insert_agents(agents.pop(use.id, ()), agents)


def _records(path: Path) -> Iterator[Record]:
    withdrawn: set[str] = set()
    entries: list[Record] = []
    for line in read_forwards(path):
        record = record_of(line)
        if isinstance(record, TombstoneRecord):
            withdrawn.add(record.message_uid)
        elif isinstance(
            record,
            SessionHeader
            | AgentRecord
            | TitleRecord
            | MessageRecord
            | CompactionRecord
            | NoticeRecord,
        ):
            entries.append(record)
    for record in entries:
        if not isinstance(record, MessageRecord) or record.message.uid not in withdrawn:
            yield record


def _title(records: Sequence[Record]) -> str:
    titles = [record.title for record in records if isinstance(record, TitleRecord)]
    if titles and titles[-1]:
        return titles[-1]
    prompts = (
        record.message.text.strip()
        for record in records
        if isinstance(record, MessageRecord) and record.message.origin == "person"
    )
    first = next((text for text in prompts if text), "Session")
    return first.partition("\n")[0][:80]


def _json(records: Sequence[Record]) -> str:
    header = next((r for r in records if isinstance(r, SessionHeader)), None)
    data = {
        "session_id": header.session_id if header else None,
        "project_dir": header.project_dir if header else None,
        "title": _title(records),
        "messages": [
            {**message_to_json(r.message), **({"agent_id": r.agent_id} if r.agent_id else {})}
            for r in records
            if isinstance(r, MessageRecord)
        ],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def parts_of(records: Sequence[Record]) -> list[str]:
    """Return the readable content of records, as blocks of Markdown."""
    parts: list[str] = []
    for record in records:
        match record:
            case MessageRecord() if record.message.origin in _FOR_THE_MODEL:
                continue
            case MessageRecord() if record.message.origin == "interruption":
                parts.append(f"> {_INTERRUPTED}")
            case MessageRecord():
                heading = _heading(record.message, record.agent_id)
                body = [_block_markdown(block) for block in record.message.content]
                parts += [f"## {heading}", *filter(None, body)]
            case CompactionRecord():
                parts += ["---", "_Earlier messages were replaced by a summary for the model._"]
            case NoticeRecord():
                parts.append(f"> {sanitize(record.text)}")
            case _:
                continue
    return parts


def _block_markdown(block: Block) -> str:
    match block.get("type"):
        case "text":
            text = sanitize(str(block.get("text", ""))).strip()
            own = own_command.NOTE.fullmatch(text)
            return _fence(f"$ {own['command']}\n{own['output']}", "console") if own else text
        case "thinking":
            text = sanitize(str(block.get("thinking", ""))).strip()
            return "\n".join(f"> {line}" for line in text.splitlines())
        case "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False, indent=2)
            return f"**{sanitize(str(block.get('name')))}**\n\n{_fence(arguments, 'json')}"
        case "tool_result":
            return _fence(_result_text(block))
        case "redacted_thinking":
            return ""
        case "compaction":
            return sanitize(str(block.get("content") or "")).strip()
        case kind:
            return f"_[{kind}]_"


def _html(records: Sequence[Record]) -> str:
    title = html.escape(sanitize(_title(records)))
    parts = [
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
        # Nothing in the page may run or load, whatever the conversation contains.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">",
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>",
    ]
    for record in records:
        match record:
            case MessageRecord() if record.message.origin in _FOR_THE_MODEL:
                continue
            case MessageRecord() if record.message.origin == "interruption":
                parts.append(f"<p class=notice>{_INTERRUPTED}</p>")
            case MessageRecord():
                heading = html.escape(_heading(record.message, record.agent_id))
                body = "".join(_block_html(block) for block in record.message.content)
                role = record.message.role
                parts.append(f'<article class="{role}"><h2>{heading}</h2>{body}</article>')
            case CompactionRecord():
                parts.append("<hr><p class=notice>Earlier messages were replaced by a summary.</p>")
            case NoticeRecord():
                parts.append(f"<p class=notice>{html.escape(sanitize(record.text))}</p>")
            case _:
                continue
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _block_html(block: Block) -> str:
    match block.get("type"):
        case "text":
            return f"<pre>{html.escape(sanitize(str(block.get('text', ''))))}</pre>"
        case "thinking":
            return _details_block("Thinking", str(block.get("thinking", "")))
        case "tool_use":
            arguments = json.dumps(block.get("input"), ensure_ascii=False, indent=2)
            return _details_block(str(block.get("name")), arguments)
        case "tool_result":
            return _details_block("Result", _result_text(block))
        case "redacted_thinking":
            return ""
        case "compaction":
            return _details_block("Summary", str(block.get("content") or ""))
        case kind:
            return f"<p class=notice>[{html.escape(str(kind))}]</p>"


def _details_block(title: str, text: str) -> str:
    if not text.strip():
        return ""
    body = html.escape(sanitize(text))
    return f"<details><summary>{html.escape(sanitize(title))}</summary><pre>{body}</pre></details>"


def _heading(message: Message, agent_id: str | None) -> str:
    names: dict[str, str] = {
        "person": "You",
        "model": "Agent",
        "tool": "Results",
        "summary": "Summary",
    }
    name = names.get(message.origin, message.origin.capitalize())
    if agent_id is None:
        return name
    # Only the agent itself writes to a sub-agent.
    return f"{'Task' if message.origin == 'person' else name} (sub-agent {agent_id})"


def _result_text(block: Block) -> str:
    content: Any = block.get("content")
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text", "")) if part.get("type") == "text" else f"[{part.get('type')}]"
            for part in content
            if isinstance(part, dict)
        )
    return str(content or "")


def _fence(text: str, language: str = "") -> str:
    text = sanitize(text).rstrip()
    longest = max((len(match[1]) for match in _FENCE.finditer(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
