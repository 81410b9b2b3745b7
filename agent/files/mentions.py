"""`@path` in a prompt: finds the mentioned files and attaches their contents for the model.

A mention attaches what a Read call would return without asking: the rules and scope of the Read
tool apply, and no hooks fire. Source: the pattern "safety-and-permissions" (mentions are reads).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from agent.abort import AbortSignal
from agent.files.mention_text import unquote
from agent.messages import Block, Message, text_block
from agent.tools.base import ToolContext, ToolError
from agent.tools.builtin.read import ReadInput, read_tool
from agent.tools.files.paths import absolute, display_path
from agent.tools.services import ToolServices
from permissions.base.text.late_pattern import compile_late
from permissions.decision import Behavior, Decision, Reason, source_name
from permissions.gate import PermissionGate
from permissions.request import PermissionRequest

MAX_MENTIONS: Final = 20
MAX_TOTAL_CHARS: Final = 200_000
MAX_ENTRIES: Final = 200
MAX_PATH_CHARS: Final = 4_096
"""No system opens longer paths, and a word has a reading for each of its final marks."""
_MENTION: Final = compile_late(
    r"(?<![^\s(\[{<'\"“‘,;:=])@(?:\"(?P<quoted>(?:[^\"\\\n]|\\[^\n])+)\"|(?P<plain>[^\s\"@]+))"
)
_LINES: Final = compile_late(r"#L?(?P<first>\d+)(?:-L?(?P<last>\d+))?$")
_FIRST_DIRECTORY: Final = compile_late(r"/?[^/]+/(?=[^/])")
_TRAILING: Final = ".,;:!?)]}>'\"”’`*"


class Mention(Struct, frozen=True):
    """One file or folder that a prompt names."""

    path: str
    """As written, without `@`, quotes and line numbers."""
    first: int | None = None
    last: int | None = None
    """Lines asked for, counted from 1; None for the start or the end of the file."""


class Note(Struct, frozen=True):
    """A line for the user."""

    level: Literal["info", "warning"]
    text: str


class MentionContents(Struct, frozen=True):
    """The result of reading the mentions."""

    messages: tuple[Message, ...] = ()
    """For the model, in front of the prompt; empty when nothing was attached."""
    notes: tuple[Note, ...] = ()
    """For the user: what was attached, and what was not, and why."""


def find_mentions(text: str) -> tuple[tuple[Mention, ...], ...]:
    """Return, per `@` in the text, its possible readings, most likely first.

    `see @a.py.` may mean `a.py.` or `a.py`; the caller, who knows the files, takes the first that
    exists.
    """
    mentions: list[tuple[Mention, ...]] = []
    for match in _MENTION.finditer(text):
        if match["quoted"] is not None:
            candidate = match["quoted"]
            readings = list(_readings(candidate))
            if "\\" in candidate:
                readings.extend(_readings(unquote(candidate)))
            mentions.append(tuple(readings))
            continue
        candidate = match["plain"]
        if len(candidate) > MAX_PATH_CHARS:
            continue
        readings = list(_readings(candidate))
        while candidate and candidate[-1] in _TRAILING:
            candidate = candidate[:-1]
            readings.extend(_readings(candidate))
        if readings:
            mentions.append(tuple(readings))
    return tuple(dict.fromkeys(mentions))


class _Attached(Struct, frozen=True):
    names: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()
    refusals: tuple[str, ...] = ()


CheckResource = Callable[[str, str], None]
"""Takes the name of a server and the address of a resource. Raises ToolError where it must not be
read."""


class MentionReader(Struct):
    """Reads what prompts mention, with the permissions of the conversation's own tools."""

    services: Callable[[], ToolServices]
    gate: PermissionGate
    resources: Callable[[str, CheckResource], Awaitable[Sequence[Block] | None]] | None = None
    """Reads a resource of a server, given as `server:uri`; returns None if there is none. Raises
    ToolError."""

    async def attach(
        self, texts: Sequence[str], turn_id: str, abort: AbortSignal, *, by_user: bool = True
    ) -> MentionContents:
        """Read the files and folders that the texts mention. Raises nothing.

        Mentioning a resource of a server is the user's consent to read it. If the model wrote the
        text (`by_user` is false), a rule must allow it.

        A name that does not exist counts as an ordinary word, but is reported if its first folder
        exists. Names are relative to the launch directory, as the picker offers them, or else to
        the shell's directory.
        """
        blocks: list[Block] = []
        names: list[str] = []
        refusals: list[str] = []
        room = MAX_TOTAL_CHARS
        attached_mentions: set[Mention] = set()
        for readings in chain.from_iterable(map(find_mentions, texts)):
            target = next(filter(None, map(self._locate, readings)), None)
            if target is None and (part := await self._resource(readings, by_user)) is not None:
                names.extend(part.names)
                blocks.extend(part.blocks)
                refusals.extend(part.refusals)
                continue
            if target is None:
                # The last reading has neither trailing punctuation nor line numbers.
                if self._is_missing(last := readings[-1].path):
                    refusals.append(f"@{last} is not attached: file not found")
                continue
            mention, path = target
            if mention in attached_mentions:
                continue
            if len(attached_mentions) >= MAX_MENTIONS or room <= 0:
                refusals.append(
                    f"@{mention.path} is not attached: the attachments have reached their limit"
                )
                continue
            attached_mentions.add(mention)
            name = display_path(path, self.services().launch_dir)
            try:
                content = await self._attach(mention, path, name, turn_id, abort)
            except ToolError as error:
                refusals.append(f"@{name} is not attached: {error}")
                continue
            size = sum(len(str(block.get("text", ""))) for block in content)
            if size > room:
                refusals.append(
                    f"@{name} is not attached: the attachments have reached their limit"
                )
                continue
            room -= size
            # The path of a pasted image's copy means nothing to the user.
            is_copy = path.is_relative_to(self.services().scratch_dir)
            label = path.name if is_copy else name
            names.append(_with_lines(label, mention, is_directory=os.path.isdir(path)))
            blocks.append(text_block(f"The user attached {name} with @. The Read tool shows:"))
            blocks.extend(content)
        message = Message(role="user", content=tuple(blocks), origin="reminder")
        notes = [Note("warning", text) for text in dict.fromkeys(refusals)]
        if names:
            notes.insert(0, Note("info", f"attached: {', '.join(names)}"))
        return MentionContents((message,) if blocks else (), tuple(notes))

    async def _resource(self, readings: Sequence[Mention], by_user: bool) -> _Attached | None:
        """Return what a resource of a server contains; None where no reading names one."""

        def check(server: str, uri: str) -> None:
            request = PermissionRequest("ReadMcpResourceTool", {"server": server, "uri": uri})
            decision = self.gate.evaluate(request, cwd=self.services().cwd)
            if decision.behavior is Behavior.DENY or (
                decision.behavior is not Behavior.ALLOW and not by_user
            ):
                raise ToolError(_why_not(decision))

        for mention in readings if self.resources is not None else ():
            assert self.resources is not None
            try:
                content = await self.resources(mention.path, check)
            except ToolError as error:
                return _Attached(refusals=(f"@{mention.path} is not attached: {error}",))
            if content is not None:
                head = text_block(f"The user attached {mention.path} with @. It contains:")
                return _Attached((mention.path,), (head, *content))
        return None

    def _is_missing(self, path: str) -> bool:
        """Whether it is a path rather than a word: its first folder exists."""
        head = _FIRST_DIRECTORY.match(path)
        return head is not None and self._locate(Mention(head[0])) is not None

    def _locate(self, mention: Mention) -> tuple[Mention, Path] | None:
        services = self.services()
        for directory in (services.launch_dir, services.cwd):
            path = absolute(mention.path, services, directory)
            with contextlib.suppress(ValueError, OSError):
                if os.path.lexists(path):
                    return mention, path
        return None

    def _refusal(self, path: Path) -> str:
        request = PermissionRequest("Read", {"file_path": str(path)})
        decision = self.gate.evaluate(request, cwd=self.services().cwd)
        if decision.behavior is Behavior.ALLOW:
            return ""
        return _why_not(decision)

    async def _attach(
        self, mention: Mention, path: Path, name: str, turn_id: str, abort: AbortSignal
    ) -> Sequence[Block]:
        """Return the blocks to attach. Raises ToolError with the reason if reading is refused or
        fails."""
        refusal = self._refusal(path)
        if refusal:
            raise ToolError(refusal)
        return await self._content(mention, path, name, turn_id, abort)

    async def _content(
        self, mention: Mention, path: Path, name: str, turn_id: str, abort: AbortSignal
    ) -> tuple[Block, ...]:
        if os.path.isdir(path):
            return (text_block(self._listing(path, name)),)
        first = mention.first
        limit = mention.last - (first or 1) + 1 if mention.last is not None else None
        if limit is not None and limit < 1:
            raise ToolError("the last line is before the first")
        context = ToolContext(
            tool_use_id="mention",
            turn_id=turn_id,
            agent_id=None,
            abort=abort,
            progress=lambda _text: None,
            services=self.services(),
        )
        tool = read_tool()
        outcome = await tool.run(ReadInput(file_path=str(path), offset=first, limit=limit), context)
        if isinstance(outcome.content, str):
            return (text_block(outcome.content),)
        return outcome.content

    def _listing(self, path: Path, name: str) -> str:
        may_show = self.services().may_search
        try:
            with os.scandir(path) as entries:
                names = sorted(
                    display_path(entry.name, path)
                    + ("/" if entry.is_dir(follow_symlinks=False) else "")
                    for entry in entries
                    if may_show is None or may_show(Path(entry.path))
                )
        except OSError as error:
            raise ToolError(f"it cannot be listed ({error.strerror})") from error
        more = f"\n[{len(names) - MAX_ENTRIES} more]" if len(names) > MAX_ENTRIES else ""
        return f"{name} is a folder with:\n" + "\n".join(names[:MAX_ENTRIES]) + more


def _why_not(decision: Decision) -> str:
    if decision.reason in {Reason.DENY_RULE, Reason.ASK_RULE} and decision.rule is not None:
        return f"the rule {decision.rule.text} ({source_name(decision.rule.source)}) forbids it"
    return decision.message


def _with_lines(name: str, mention: Mention, *, is_directory: bool) -> str:
    if is_directory:
        return name.rstrip("/") + "/"
    if mention.first is None:
        return name
    last = f"-{mention.last}" if mention.last != mention.first else ""
    return f"{name}#{mention.first}{last}"


def _readings(text: str) -> tuple[Mention, ...]:
    lines = _LINES.search(text)
    if not text:
        return ()
    whole = Mention(text)
    if lines is None or lines.start() == 0:
        return (whole,)
    first = int(lines["first"])
    last = int(lines["last"]) if lines["last"] else first
    return (whole, Mention(text[: lines.start()], max(first, 1), last))
