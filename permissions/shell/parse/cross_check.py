"""Checks that the tree-sitter tree and the lexer read a command in the same way.

Neither is trusted alone: a difference in quoting, comments, expansions or operators, or text that
the tree leaves out, makes the command unparsable.
"""

from __future__ import annotations

from bisect import bisect_left

from tree_sitter import Node as TreeNode

from permissions.base.text.late_pattern import compile_late
from permissions.shell.parse.lexer import Marks
from permissions.shell.parse.tree_nodes import REDIRECTS, is_lost_dash
from permissions.shell.syntax import Unparsable

MAX_NODES = 20_000

_BLANKS = compile_late(rb"(?:[ \t]|\\\n)*")
_LINES = compile_late(rb"(?:[ \t\n]|\\\n)*")

_OPAQUE_LEAVES = frozenset(
    {"word", "number", "string_content", "variable_name", "heredoc_content", "test_operator"}
)
_EXPANSIONS = frozenset(
    """
    simple_expansion expansion command_substitution process_substitution arithmetic_expansion
    """.split()
)
_TIGHT = frozenset(
    {"command", "declaration_command", "unset_command", "variable_assignments", "file_redirect"}
)
_APART = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect", "comment"})


def verify(root: TreeNode, source: bytes, marks: Marks) -> None:
    """Compare the tree below `root` with what the lexer marked in `source`.

    Raises:
        Unparsable: They differ, or the tree has errors, gaps or too many nodes.
    """
    if root.has_error:
        raise Unparsable("the command cannot be parsed")
    places = _Places(source, marks.operators)
    nodes = 0
    stack = [root]
    while stack:
        node = stack.pop()
        nodes += 1
        if nodes > MAX_NODES:
            raise Unparsable("the command has too many parts")
        kind = node.type
        if node.is_missing or kind == "ERROR":
            raise Unparsable("the command cannot be parsed")
        places.add(node, kind)
        children = node.children
        if children:
            _check_gaps(node, kind, children, source)
            stack.extend(children)
    _compare(marks, places.quoted_spans, places.comments, places.expansions)
    if places.ends != {one.end_of_line for one in marks.here_documents}:
        # For the shell, `E | x` does not end a document, and `EF` ends the document of `E'F'`.
        raise Unparsable("a here-document can be read in two ways")


class _Places:
    """The positions of quotes, comments, expansions and here-document ends in a tree."""

    def __init__(self, source: bytes, operators: list[int]) -> None:
        self.quoted_spans: set[tuple[int, int]] = set()
        self.comments: set[int] = set()
        self.expansions: set[int] = set()
        self.ends: set[int] = set()
        self._source = source
        self._operators = operators
        self._has_zero = b"0<" in source or b"0>" in source

    def add(self, node: TreeNode, kind: str) -> None:
        """Record a node; raises Unparsable where the lexer marked an operator inside a leaf."""
        if kind in _OPAQUE_LEAVES:
            self._add_leaf(node)
        elif kind in _EXPANSIONS:
            start = node.start_byte
            while self._source[start] in b" \t\n":
                # After another expansion in a string, the grammar treats the blanks as part of it.
                start += 1
            self.expansions.add(start)
        elif kind in ("raw_string", "ansi_c_string"):
            self.quoted_spans.add((node.start_byte, node.end_byte))
        elif kind == "comment":
            self.comments.add(node.start_byte)
        elif kind == "heredoc_end":
            self.ends.add(node.end_byte)
        elif kind in ("extglob_pattern", "regex"):
            _no_separator_inside(node, self._source, self._operators)

    def _add_leaf(self, node: TreeNode) -> None:
        start, end = node.start_byte, node.end_byte
        _no_operator_inside(start, end, self._operators)
        if self._has_zero and self._source[start : end + 1] in (b"0<", b"0>"):
            # The shell treats it as a descriptor, the grammar as a word.
            raise Unparsable("a redirection of descriptor 0")


def _compare(
    marks: Marks, quoted_spans: set[tuple[int, int]], comments: set[int], expansions: set[int]
) -> None:
    """Compare the positions from the tree with those that the lexer marked."""
    documents = [span for span in marks.documents if span[0] < span[1]]
    hidden = {start for start in comments if any(a <= start < b for a, b in documents)}
    if marks.quoted_spans != quoted_spans:
        raise Unparsable("its quoting can be read in two ways")
    if marks.comments != comments - hidden:
        raise Unparsable("its comments can be read in two ways")
    if not marks.expansions <= expansions:
        raise Unparsable("it contains expansions that are not understood")
    if any(a <= start < b for start in expansions for a, b in documents):
        raise Unparsable("a here-document can be read in two ways")


def _no_operator_inside(start: int, end: int, operators: list[int]) -> None:
    place = bisect_left(operators, start)
    if place < len(operators) and operators[place] < end:
        # A continued line contains a newline that the lexer has skipped already.
        raise Unparsable("its operators can be read in two ways")


def _no_separator_inside(node: TreeNode, source: bytes, operators: list[int]) -> None:
    place = bisect_left(operators, node.start_byte)
    while place < len(operators) and operators[place] < node.end_byte:
        if source[operators[place]] in b";&\n<>":
            raise Unparsable("its operators can be read in two ways")
        place += 1


def _check_gaps(node: TreeNode, kind: str, children: list[TreeNode], source: bytes) -> None:
    """Raise Unparsable if two nodes are separated by more than blanks or text of a string."""
    if kind in ("string", "heredoc_body", "heredoc_redirect", "expansion", "regex"):
        return
    gap_pattern = _BLANKS if kind in _TIGHT else _LINES
    position = node.start_byte
    previous: TreeNode | None = None
    for child in children:
        gap = source[position : child.start_byte]
        if child.start_byte == position:
            if previous is not None:
                _no_touch(previous, child)
        elif kind == "variable_assignment":
            # After `A=\⏎ `, the grammar reads the command as the value.
            raise Unparsable("an assignment with a gap")
        elif gap and gap != b" ":
            is_behind = kind == "redirected_statement" and child.type in REDIRECTS
            if not gap_pattern.fullmatch(gap) and not (is_behind and is_lost_dash(gap)):
                raise Unparsable("part of it is not understood")
            _no_joint(gap, previous)
        position = max(position, child.end_byte)
        previous = child
    rest = source[position : node.end_byte]
    if rest and not gap_pattern.fullmatch(rest):
        raise Unparsable("part of it is not understood")


def _no_touch(previous: TreeNode, child: TreeNode) -> None:
    """Raise for a word directly after the value of an assignment: `A=(x)1 cmd`.

    The shell and the grammar disagree about what follows the value.
    """
    if previous.type == "variable_assignment" and _is_word(child):
        raise Unparsable("a word touches an assignment")


def _no_joint(gap: bytes, previous: TreeNode | None) -> None:
    """Raise for a gap that consists only of a line continuation.

    The shell joins the text on both sides; the grammar sees two words.
    """
    joins = previous is None or previous.type not in ("&&", "||")
    if joins and not gap.replace(b"\\\n", b""):
        raise Unparsable("a word is continued on the next line")


def _is_word(node: TreeNode) -> bool:
    return node.is_named and node.type not in _APART
