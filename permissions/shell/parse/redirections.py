"""Reads redirections and here-documents, and attaches them to the same commands as the shell."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace
from tree_sitter import Node as TreeNode

from permissions.base.text.late_pattern import compile_late
from permissions.shell.parse.tree_nodes import REDIRECTS, WORDS, is_lost_dash, raw_text
from permissions.shell.parse.words import WordReader
from permissions.shell.syntax import (
    AndOr,
    Isolated,
    Node,
    Redirect,
    Redirected,
    RedirectKind,
    Script,
    Sequence,
    Simple,
    Unparsable,
    Word,
    Words,
)

_NUMBER_WORD = compile_late(r"[0-9]+")
_PLAIN_TARGET = compile_late(r"[\w./:@%+=^,-]+", re.ASCII)
_NAMED_DESCRIPTOR = compile_late(rb"\{[A-Za-z_]\w*(?:\[[^\]]*\])?\}")
_NUMBERED_DESCRIPTOR = compile_late(rb"(?<![^\s;&|()<>`])[0-9]+\Z")
_DOCUMENT_PARTS = frozenset(
    {"<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor", "comment"}
)
_OPERATORS = frozenset({"<", ">", ">>", "&>", "&>>", "<&", ">&", ">|", "<&-", ">&-"})


class RedirectionReader:
    """Reads the redirections of one command text."""

    def __init__(
        self, source: bytes, words: WordReader, statement: Callable[[TreeNode], Node]
    ) -> None:
        """`words` and `statement` read the words and statements among redirections."""
        self._source = source
        self._words = words
        self._statement = statement

    def read_redirected(self, node: TreeNode) -> Node:
        """Read a statement with the redirections around it."""
        body: Node | None = None
        body_type = ""
        position = node.start_byte
        redirects: list[Redirect] = []
        later_nodes: list[Node] = []
        for child in node.children:
            if child.type in REDIRECTS:
                if is_lost_dash(self._source[position : child.start_byte]):
                    body = _with_dash(body, body_type)
                if child.type == "heredoc_redirect":
                    later_nodes.extend(self._after_document(child, redirects))
                redirects.append(self.read(child))
            elif child.is_named and child.type != "comment":
                body = self._statement(child)
                body_type = child.type
            position = child.end_byte
        result: Node
        if body is None:
            result = Simple("", (), (), tuple(redirects))
        else:
            result = _redirect_last(body, tuple(redirects), raw_text(self._source, node), body_type)
        if not later_nodes:
            return result
        return _reorder_line(result, later_nodes)

    def _after_document(self, node: TreeNode, redirects: list[Redirect]) -> list[Node]:
        """Read the text after `<<EOF` on its line, which the tree has inside the redirection."""
        nodes: list[Node] = []
        for child in node.children:
            kind = child.type
            if kind in _DOCUMENT_PARTS:
                continue
            if kind in REDIRECTS:
                redirects.append(self.read(child))
            elif kind in ("&&", "||"):
                nodes.append(Words(kind, ()))
            elif kind == "pipeline":
                items = [item for item in child.named_children if item.type != "comment"]
                nodes.append(Isolated(tuple(self._statement(item) for item in items)))
            elif kind in WORDS and node.child_by_field_name("argument") is not None:
                raise Unparsable("arguments after a here-document")
            elif child.is_named:
                nodes.append(self._statement(child))
            elif kind not in ("|", "|&", ";", "&", "\n"):
                raise Unparsable(f"'{raw_text(self._source, child)}' after a here-document")
        return nodes

    def read(self, node: TreeNode) -> Redirect:
        """Read one redirection."""
        if _is_descriptor_before(self._source, node.start_byte):
            raise Unparsable("an unusual descriptor")
        match node.type:
            case "heredoc_redirect":
                return self._here_document(node)
            case "herestring_redirect":
                return self._here_string(node)
            case _:
                return self._file(node)

    def _here_document(self, node: TreeNode) -> Redirect:
        scripts: list[Script] = []
        for child in node.children:
            if child.type == "heredoc_body":
                scripts.extend(self._words.scan(child).scripts)
        raw, text = raw_text(self._source, node), self._document(node)
        return Redirect(raw, RedirectKind.TEXT, None, tuple(scripts), text)

    def _here_string(self, node: TreeNode) -> Redirect:
        word = self._words.scan(node)
        word_nodes = [child for child in node.children if child.type in WORDS]
        read = self._words.read(word_nodes[0]) if len(word_nodes) == 1 else word
        text = read.text if read.is_literal else None
        raw = raw_text(self._source, node)
        return Redirect(raw, RedirectKind.TEXT, None, word.scripts, text)

    def _file(self, node: TreeNode) -> Redirect:
        raw = raw_text(self._source, node)
        operator, targets = _operator_and_targets(node)
        if operator in (">&-", "<&-"):
            if targets:
                raise Unparsable("words after a redirection")
            return Redirect(raw, RedirectKind.DUPLICATE, None)
        words = self._split_targets(targets)
        if len(words) != 1:
            # `> a b` has further words of the command after the target.
            raise Unparsable("words after a redirection")
        target = words[0]
        if operator in (">&", "<&") and (_NUMBER_WORD.fullmatch(target.text) or target.text == "-"):
            return Redirect(raw, RedirectKind.DUPLICATE, None)
        if operator == "<&":
            raise Unparsable("an unusual descriptor")
        if operator == ">&" and not _PLAIN_TARGET.fullmatch(target.text):
            # The shell expands it twice: `>&'$(x)'` runs x.
            raise Unparsable("an unusual target of >&")
        kind = RedirectKind.READ if operator == "<" else RedirectKind.WRITE
        return Redirect(raw, kind, target, target.scripts)

    def _document(self, node: TreeNode) -> str | None:
        """Return the body of a here-document; None if something in it expands."""
        parts = {child.type: child for child in node.children}
        start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
        if start is None or body is None:
            return None
        text = raw_text(self._source, body)
        is_quoted = any(mark in raw_text(self._source, start) for mark in "'\"\\")
        if not is_quoted and any(mark in text for mark in "$`\\"):
            return None
        if "<<-" in parts:
            text = "\n".join(line.lstrip("\t") for line in text.split("\n"))
        return text

    def _split_targets(self, targets: list[TreeNode]) -> list[Word]:
        groups: list[list[TreeNode]] = []
        position = -1
        for target in targets:
            if target.type not in WORDS:
                raise Unparsable("the target of a redirection is not understood")
            if groups and position == target.start_byte:
                groups[-1].append(target)
            else:
                groups.append([target])
            position = target.end_byte
        words: list[Word] = []
        for group in groups:
            words.extend(self._words.expand(group))
        return words


def _with_dash(body: Node | None, body_type: str) -> Node:
    """Restore the dash that the grammar drops: it is the last word of the last command."""
    if isinstance(body, Simple):
        words = (*body.words, Word("-", "-"))
        return replace(body, raw=f"{body.raw} -", words=words)
    if body_type in ("list", "pipeline", "negated_command"):
        if isinstance(body, AndOr):
            return AndOr(body.first, _with_dash(body.second, "list"), body.is_and)
        if isinstance(body, Isolated) and len(body.items) > 1:
            return Isolated((*body.items[:-1], _with_dash(body.items[-1], "")))
        if isinstance(body, Sequence) and len(body.items) == 1:
            return Sequence((_with_dash(body.items[0], ""),))
    raise Unparsable("part of it is not understood")


def _redirect_last(
    body: Node, redirects: tuple[Redirect, ...], raw: str, body_type: str = ""
) -> Node:
    """Attach redirections; the tree puts those of a list's last command around the whole list."""
    if isinstance(body, Simple):
        return replace(body, redirects=(*body.redirects, *redirects))
    if body_type in ("list", "pipeline", "negated_command"):
        if isinstance(body, AndOr):
            second = _redirect_last(body.second, redirects, raw, "list")
            return AndOr(body.first, second, body.is_and)
        if isinstance(body, Isolated) and len(body.items) > 1:
            last = _redirect_last(body.items[-1], redirects, raw)
            return Isolated((*body.items[:-1], last))
        if isinstance(body, Sequence) and len(body.items) == 1:
            return Sequence((_redirect_last(body.items[0], redirects, raw),))
    return Redirected(body, redirects, raw)


def _reorder_line(first: Node, rest: list[Node]) -> Node:
    """Restore the order of the statements that followed a here-document's delimiter on its line."""
    result = first
    is_and: bool | None = None
    for node in rest:
        if isinstance(node, Words) and not node.words and node.raw in ("&&", "||"):
            is_and = node.raw == "&&"
        elif is_and is not None:
            result = AndOr(result, node, is_and)
            is_and = None
        elif isinstance(node, Isolated):
            result = Isolated((result, *node.items))
        else:
            result = Sequence((result, node))
    return result


def _is_descriptor_before(source: bytes, start: int) -> bool:
    """Return whether the shell reads what is in front of a redirection as part of it, although the
    grammar has it as an argument: `{name}>x`."""
    if source[start : start + 1] == b"&":
        return False
    head = source[:start]
    if head.endswith(b"}"):
        brace = head.rfind(b"{")
        is_name = _NAMED_DESCRIPTOR.fullmatch(head, brace) if brace >= 0 else None
        return is_name is not None and head[brace - 1 : brace] != b"$"
    return _NUMBERED_DESCRIPTOR.search(head) is not None


def _operator_and_targets(node: TreeNode) -> tuple[str, list[TreeNode]]:
    operator = ""
    targets: list[TreeNode] = []
    for child in node.children:
        if child.type == "file_descriptor":
            if not (child.text or b"").isdigit():
                # `-2>x`: the shell reads a word in front of the operator.
                raise Unparsable("an unusual descriptor")
            continue
        if not child.is_named and child.type in _OPERATORS:
            operator = child.type
        else:
            targets.append(child)
    if operator not in _OPERATORS:
        raise Unparsable("a redirection is not understood")
    return operator, targets
