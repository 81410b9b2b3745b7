"""Reads simple commands, declarations and tests: the units that rules apply to."""

from __future__ import annotations

from tree_sitter import Node as TreeNode

from permissions.base.text.late_pattern import compile_late
from permissions.shell.parse.loop_variables import LoopVariables
from permissions.shell.parse.redirections import RedirectionReader
from permissions.shell.parse.tree_nodes import REDIRECTS, WORDS, raw_text
from permissions.shell.parse.words import WordReader, join_words
from permissions.shell.syntax import Assignment, Redirect, Simple, Unparsable, Word

_RESERVED = frozenset(
    "{ } ! if then elif else fi for while until do done case esac select function [[ ]]".split()
)
"""Words that are not a program at the start of a command, unless they are quoted."""
_RESERVED_OR_BEFORE = _RESERVED | {"time", "coproc"}
_EVALUATING_TEST = compile_late(r"-(?:eq|ne|lt|le|gt|ge|v|R)\b|\w\[")
"""Tests that evaluate arithmetic, which may set variables."""
_COMPARISONS = frozenset({"=", "==", "!=", "=~", "<", ">"})
_ARGUMENT_TOKENS = frozenset({"=~", "==", "(", ")"})


class CommandReader:
    """Reads the simple commands of one command text."""

    def __init__(
        self,
        source: bytes,
        words: WordReader,
        redirections: RedirectionReader,
        loops: LoopVariables,
    ) -> None:
        """`words` and `redirections` read the content of a command; `loops` has loop variables."""
        self._source = source
        self._words = words
        self._redirections = redirections
        self._loops = loops

    def _raw(self, node: TreeNode) -> str:
        return raw_text(self._source, node)

    def command(self, node: TreeNode) -> Simple:
        """Read a command from the children of its node."""
        assignments, pieces, redirects = self._split(node)
        read = [word for one in pieces for word in self._words.expand(one)]
        if read and read[0].raw in _RESERVED_OR_BEFORE:
            _check_reserved([word.raw for word in read])
        self._words.note_command(read)
        raw = self._without_redirects(node) if redirects else self._raw(node).strip()
        return Simple(raw, tuple(assignments), tuple(read), tuple(redirects))

    def _split(
        self, node: TreeNode
    ) -> tuple[list[Assignment], list[list[TreeNode]], list[Redirect]]:
        """Return assignments, the nodes of each word, and redirections."""
        assignments: list[Assignment] = []
        pieces: list[list[TreeNode]] = []
        redirects: list[Redirect] = []
        position, previous = -1, ""
        for child in node.children:
            kind = child.type
            touches = position == child.start_byte
            if touches and previous in REDIRECTS and kind not in REDIRECTS:
                raise Unparsable("a word touches a redirection")
            if kind == "variable_assignment":
                if pieces:
                    raise Unparsable("an assignment among arguments")
                assignments.append(self._words.assignment(child))
            elif kind in REDIRECTS:
                redirects.append(self._redirections.read(child))
            elif kind == "command_name":
                pieces.append(list(child.children))
            elif kind in WORDS:
                # Adjacent pieces are one word for the shell, whatever the tree shows.
                if pieces and touches:
                    pieces[-1].append(child)
                else:
                    pieces.append([child])
            elif kind in _ARGUMENT_TOKENS:
                pieces.append([child])
            else:
                raise Unparsable(f"'{self._raw(child)}' is not understood here")
            position, previous = child.end_byte, kind
        return assignments, pieces, redirects

    def _without_redirects(self, node: TreeNode) -> str:
        pieces: list[str] = []
        position = node.start_byte
        for child in node.children:
            if child.type in REDIRECTS:
                piece = self._source[position : child.start_byte]
                pieces.append(piece.decode("utf-8", "replace"))
                position = child.end_byte
        pieces.append(self._source[position : node.end_byte].decode("utf-8", "replace"))
        return "".join(pieces).strip()

    def declaration(self, node: TreeNode) -> Simple:
        """Read `export`, `declare`, `unset` and similar builtins."""
        words: list[Word] = []
        end = -1
        for child in node.children:
            kind = child.type
            touches, end = child.start_byte == end, child.end_byte
            if kind == "variable_assignment":
                assignment = self._words.assignment(child)
                name = self._words.literal(f"{assignment.name}=")
                words.append(join_words(assignment.raw, (name, assignment.value)))
            elif kind == "variable_name":
                self._words.note_variable(self._raw(child))
                words.append(self._words.literal(self._raw(child)))
            elif child.is_named:
                words.append(self._words.read(child))
            else:
                words.append(self._words.literal(self._raw(child)))
            if touches:
                # `export PA''TH=x`: adjacent pieces are one word, and name one variable.
                pieces = words[-2:]
                words[-2:] = [join_words("".join(piece.raw for piece in pieces), pieces)]
                self._words.note_variable(words[-1].text.partition("=")[0])
        self._words.note_command(words)
        return Simple(self._raw(node), (), tuple(words))

    def test(self, node: TreeNode) -> Simple:
        """Read `[ … ]` and `[[ … ]]`."""
        if _EVALUATING_TEST.search(self._raw(node)):
            self._loops.invalidate()
        name = node.children[0].type if node.children else "[["
        words = self._test_words(node)
        self._words.evaluation.note_command(name, words)
        ending = [self._words.literal("]")] if name == "[" else []
        return Simple(self._raw(node), (), (self._words.literal(name), *words, *ending))

    def _test_words(self, node: TreeNode) -> list[Word]:
        words: list[Word] = []
        for child in node.children:
            kind = child.type
            if kind in ("[", "]", "[[", "]]") and child.parent == node:
                continue
            if kind in WORDS:
                words.append(self._words.read(child))
            elif kind in ("regex", "extglob_pattern"):
                words.append(self._words.scan(child))
            elif child.named_child_count:
                words.extend(self._test_words(child))
            elif child.type == "variable_name" or kind in _COMPARISONS:
                words.append(self._words.literal(self._raw(child)))
        return words


def _check_reserved(words: list[str]) -> None:
    """Refuse `! {`, `time {` and `coproc {`, which the grammar parses as simple commands."""
    position = 0
    if words and words[0] in ("time", "coproc"):
        while position < len(words) and words[position] in ("time", "-p", "--", "coproc"):
            position += 1
        if words[position - 1] == "coproc" and set(words[position + 1 : position + 2]) & _RESERVED:
            # A name precedes a compound command.
            position += 1
    if words[position : position + 1] and words[position] in _RESERVED:
        raise Unparsable(f"'{words[position]}' is not understood here")
