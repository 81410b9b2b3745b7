"""Renders Markdown as rows, parsed by markdown-it and wrapped by our cell widths.

Links whose text differs from the target show the target after it, so that it is never hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.text.file_links import FindFile, as_path, with_files
from tui.text.highlight import HighlightedLine, Highlighter
from tui.text.styled_rows import BLANK, FAINT, TEXT, Ink, Row, Run, indent_rows, on_ground
from tui.text.wrap import hard_wrap, wrap
from tui.transcript.markdown.markdown_table import table_rows

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_FENCE: Final = compile_late(r"( {0,3})(`{3,}|~{3,})([^\n`]*)\n")
_MAX_DEPTH: Final = 12
_MAX_PATHS: Final = 200
"""Maximum number of paths in a text that are searched as files."""
_EMPHASIS: Final = {"strong": "bold", "em": "italic", "s": "strike"}
"""Attributes of text by node type."""
_ADDRESS: Final = compile_late(
    r"(?<![0-9A-Za-z])https?://[!#-&(-;=?-_a-z{|}~]+(?![!#-&(-;=?-_a-z{|}~]|\w)", re.IGNORECASE
)
"""ASCII only, so that look-alike letters do not become part of a link."""
_NOT_AT_END: Final = ".,:;!?*_~]}|"
_SAFE_LINK: Final = compile_late(r"(?:https?|file)://", re.IGNORECASE)


def markdown_rows(
    text: str, width_cells: int, highlighter: Highlighter, *, is_final: bool = False
) -> list[Row]:
    """Return the rows of a Markdown text; never raises, malformed Markdown is shown as text.

    With `is_final`, paths of existing files are links.
    """
    if not text.strip():
        return []
    nodes = _tree(text).children
    painter = _Painter(highlighter, highlighter.file_address if is_final else None)
    return painter.blocks(nodes, max(1, width_cells), TEXT, depth=0)


def block_starts(text: str) -> list[int]:
    """Return the start of each top-level block, in characters."""
    # The parse tree is cached for drawing, if nothing is split off.
    lines = [node.map[0] for node in _tree(text).children if node.map is not None]
    starts: list[int] = []
    position = line = 0
    for number in lines:
        while line < number:
            position = text.index("\n", position) + 1
            line += 1
        starts.append(position)
    return starts


def last_block_start(text: str) -> int:
    """Return the start of the last top-level block, in characters; text before it is final."""
    starts = block_starts(text)
    return starts[-1] if len(starts) > 1 else 0


def last_item_start(text: str) -> int:
    """Return the start of the last item if the text is a list; otherwise 0."""
    tokens = _parser().parse(text)
    if not tokens or tokens[0].type not in ("bullet_list_open", "ordered_list_open"):
        return 0
    starts = [t.map[0] for t in tokens if t.level == 1 and t.type == "list_item_open" and t.map]
    return _line_start(text, starts[-1]) if len(starts) > 1 else 0


def open_fence(text: str, width_cells: int, highlighter: Highlighter) -> OpenFence | None:
    """Return the code fence that the text begins with, if it is not closed yet; otherwise None."""
    content = text.lstrip("\n")
    match = _FENCE.match(content)
    if match is None:
        return None
    fence = OpenFence(match[2], match[3].strip(), width_cells, highlighter, match.group())
    return fence if fence.feed(content[match.end() :]) is None else None


class OpenFence:
    """A code block whose end has not arrived: only new lines are highlighted."""

    def __init__(
        self, mark: str, language: str, width_cells: int, highlighter: Highlighter, opening: str
    ) -> None:
        """`opening` is the opening line; `feed` adds the rest."""
        self._close = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        self._language = language
        self._width = width_cells
        self._highlighter = highlighter
        self._parts = [opening]
        self._partial = ""
        self._rows: list[Row] = []

    @property
    def source(self) -> str:
        """The Markdown of the whole block so far."""
        return "".join(self._parts) + self._partial

    def feed(self, text: str) -> str | None:
        """Append text; return the text after the block once it is closed, otherwise None."""
        self._partial += text
        while "\n" in self._partial:
            line, rest = self._partial.split("\n", 1)
            self._parts.append(line + "\n")
            self._partial = rest
            if self._close.match(line):
                self._partial = ""
                return rest
            self._rows.extend(self._line_rows(line))
        return None

    def rows(self) -> list[Row]:
        """Return the rows so far, including the unfinished line."""
        if not self._partial or self._close.match(self._partial):
            return list(self._rows)
        return [*self._rows, *self._line_rows(self._partial)]

    def _line_rows(self, line: str) -> list[Row]:
        return code_rows([self._highlighter.line(line, self._language)], self._width)


def code_rows(lines: Iterable[HighlightedLine], width_cells: int) -> list[Row]:
    """Return code with its background, indented by one cell."""
    rows: list[Row] = []
    for line in lines:
        rows.extend(hard_wrap(line, max(1, width_cells - 2)))
    pad: tuple[Run, ...] = ((" ", TEXT),)
    return on_ground(indent_rows(rows, pad, pad), Role.CODE_BACKGROUND)


def command_rows(lines: Iterable[HighlightedLine], width_cells: int) -> list[Row]:
    """Return a command as code; long lines wrap at spaces, and a sign marks continuation rows."""
    rows: list[Row] = []
    for line in lines:
        text = "".join(part for part, _ in line)
        # If the command may depend on spaces or tabs, none are dropped at a break.
        breaks = hard_wrap if "  " in text or "\t" in text else wrap
        parts = breaks(line, max(1, width_cells - 4))
        rows.extend(indent_rows(parts, ((" ", TEXT),), ((" ↪ ", FAINT),)))
    return on_ground(rows, Role.CODE_BACKGROUND)


class _Painter:
    def __init__(self, highlighter: Highlighter, address: FindFile | None) -> None:
        self._highlighter = highlighter
        self._find = address
        self._paths_left = _MAX_PATHS

    def blocks(
        self,
        nodes: Sequence[SyntaxTreeNode],
        width: int,
        ink: Ink,
        *,
        depth: int,
        tight: bool = False,
    ) -> list[Row]:
        rows: list[Row] = []
        for node in nodes:
            block_rows = self._block(node, max(1, width), ink, depth)
            if rows and block_rows and not tight:
                rows.append(BLANK)
            rows.extend(block_rows)
        return rows

    def _block(self, node: SyntaxTreeNode, width: int, ink: Ink, depth: int) -> list[Row]:
        if depth > _MAX_DEPTH:
            return wrap([(node.content or "…", ink)], width)
        match node.type:
            case "paragraph":
                return wrap(self._inline_of(node, ink), width)
            case "heading":
                level = int(node.tag[1:])
                heading = Ink(Role.HEADING, bold=True, underline=level == 1, italic=level > 2)
                return wrap(self._inline_of(node, heading), width)
            case "fence" | "code_block":
                code = node.content.removesuffix("\n")
                lines = self._highlighter.block(code, node.info or "")
                return code_rows(lines, width)
            case "bullet_list" | "ordered_list":
                return self._list(node, width, ink, depth)
            case "blockquote":
                quote = replace(ink, role=Role.QUOTE, italic=True)
                rows = self.blocks(node.children, width - 2, quote, depth=depth + 1)
                return indent_rows(rows, (("▎ ", FAINT),), (("▎ ", FAINT),))
            case "table":
                return table_rows(self._table_cells(node, ink), width)
            case "hr":
                return [Row((("─" * min(width, 40), FAINT),), is_copied=False)]
            case "html_block":
                return wrap([(node.content.strip("\n"), replace(ink, role=Role.MUTED))], width)
            case _:
                return wrap(self._inline_of(node, ink), width)

    def _list(self, node: SyntaxTreeNode, width: int, ink: Ink, depth: int) -> list[Row]:
        rows: list[Row] = []
        number = int(node.attrs.get("start", 1) or 1) if node.type == "ordered_list" else None
        digits = len(str(number + len(node.children) - 1)) if number is not None else 0
        for item in node.children:
            is_tight = all(c.hidden for c in item.children if c.type == "paragraph")
            if number is None:
                mark = "•" if depth % 2 == 0 else "◦"
                # A task has a checkbox instead of a bullet.
                mark = "" if _is_task(item) else f"{mark} "
            else:
                mark = f"{number:>{digits}}. "
                number += 1
            mark_width = len(mark)
            rest_width = mark_width or len("☐ ")
            inner = self.blocks(
                item.children, width - rest_width, ink, depth=depth + 1, tight=is_tight
            )
            if rows and not is_tight:
                rows.append(BLANK)
            first: tuple[Run, ...] = ((mark, Ink(Role.MUTED)),)
            lines = indent_rows(inner or [BLANK], first, ((" " * rest_width, TEXT),))
            # In contrast to other decoration, the bullet is copied.
            lines[0] = replace(lines[0], gutter_chars=lines[0].gutter_chars - mark_width)
            rows.extend(lines)
        return rows

    def _table_cells(self, node: SyntaxTreeNode, ink: Ink) -> list[list[tuple[list[Run], str]]]:
        """Return the cells of header and body rows, each with its alignment."""
        table: list[list[tuple[list[Run], str]]] = []
        for section in node.children:
            for line in section.children:
                bold = replace(ink, bold=True) if section.type == "thead" else ink
                table.append(
                    [
                        (
                            self._inline_of(cell, bold),
                            str(cell.attrs.get("style", "")).removeprefix("text-align:"),
                        )
                        for cell in line.children
                    ]
                )
        return table

    def _inline_of(self, node: SyntaxTreeNode, ink: Ink) -> list[Run]:
        runs: list[Run] = []
        for child in node.children:
            if child.type == "inline":
                for part in child.children:
                    self._inline(part, ink, runs)
            else:
                runs.extend(self._inline_of(child, ink))
        if not node.children and node.content:
            runs.append((node.content, ink))
        return _with_task_box(runs)

    def _inline(self, node: SyntaxTreeNode, ink: Ink, runs: list[Run]) -> None:
        match node.type:
            case "text":
                for part in _with_addresses(node.content, ink):
                    runs.extend(self._with_files(part))
            case "softbreak" | "hardbreak":
                runs.append(("\n", ink))
            case "code_inline":
                code = (node.content, replace(ink, role=Role.CODE))
                runs.extend(self._with_files(code, is_code=True))
            case "strong" | "em" | "s" as kind:
                self._children(node, replace(ink, **{_EMPHASIS[kind]: True}), runs)
            case "link":
                self._link(node, ink, runs)
            case "image":
                source = str(node.attrs.get("src", ""))
                label = node.content or "image"
                runs.append((f"[{label}]", replace(ink, role=Role.MUTED)))
                runs.append((f" ({source})", replace(ink, role=Role.MUTED)))
            case _:
                runs.append((node.content, replace(ink, role=Role.MUTED)))

    def _with_files(self, run: Run, *, is_code: bool = False) -> Iterable[Run]:
        text, ink = run
        if self._find is None or ink.link is not None:
            return (run,)
        return with_files(text, ink, self._address, is_code=is_code)

    def _address(self, path: str) -> str | None:
        if self._find is None or self._paths_left == 0:
            return None
        self._paths_left -= 1
        return self._find(path)

    def _children(self, node: SyntaxTreeNode, ink: Ink, runs: list[Run]) -> None:
        for child in node.children:
            self._inline(child, ink, runs)

    def _link(self, node: SyntaxTreeNode, ink: Ink, runs: list[Run]) -> None:
        target = str(node.attrs.get("href", ""))
        label: list[Run] = []
        link_ink = replace(ink, role=Role.LINK, underline=True)
        # Paths in the label are not linked: the link's target is opened.
        _Painter(self._highlighter, None)._children(node, link_ink, label)
        text = "".join(part for part, _ in label)
        is_shown = text in (target, target.removeprefix("mailto:"))
        address = target if _SAFE_LINK.match(target) else None
        if address is None and (path := as_path(target)):
            address = self._address(path)
        if is_shown:
            runs.extend((part, replace(look, link=address)) for part, look in label)
            return
        runs.extend((part, replace(look, link=None)) for part, look in label)
        runs.append((" (", replace(ink, role=Role.MUTED)))
        runs.append((target, replace(ink, role=Role.LINK, link=address)))
        runs.append((")", replace(ink, role=Role.MUTED)))


def _with_addresses(text: str, ink: Ink) -> Iterable[Run]:
    """Yield the text with its web addresses as links."""
    if "://" not in text:
        yield text, ink
        return
    position = 0
    for match in _ADDRESS.finditer(text):
        address = match.group().rstrip(_NOT_AT_END)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_NOT_AT_END)
        if match.start() > position:
            yield text[position : match.start()], ink
        yield address, replace(ink, role=Role.LINK, underline=True, link=address)
        position = match.start() + len(address)
    if position < len(text):
        yield text[position:], ink


def _line_start(text: str, line: int) -> int:
    position = 0
    for _ in range(line):
        position = text.index("\n", position) + 1
    return position


_BOXES: Final = ("[ ] ", "[x] ")


def _is_task(item: SyntaxTreeNode) -> bool:
    first = item.children[0] if item.children else None
    inline = first.children[0] if first is not None and first.type == "paragraph" else None
    return inline is not None and inline.content[:4].lower() in _BOXES


def _with_task_box(runs: list[Run]) -> list[Run]:
    if not runs or runs[0][0][:4].lower() not in _BOXES:
        return runs
    text, ink = runs[0]
    is_done = text[1] in "xX"
    box: Run = ("☑ ", Ink(Role.SUCCESS)) if is_done else ("☐ ", Ink(Role.MUTED))
    return [box, (text[4:], ink), *runs[1:]]


@lru_cache(maxsize=64)
def _tree(text: str) -> SyntaxTreeNode:
    from markdown_it.tree import SyntaxTreeNode as Node  # with the parser: not before it is needed

    return Node(_parser().parse(text))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    # Imported with the first answer: takes some 20 ms and is not needed for the prompt.
    from markdown_it import MarkdownIt as Parser

    return Parser("commonmark").enable(["table", "strikethrough"])
