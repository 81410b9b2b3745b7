"""Reads a command into `syntax`, from the tree-sitter tree and checked against the lexer.

Fails closed: a node type, a gap or a piece of quoting that is not understood raises `Unparsable`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

import tree_sitter_bash
from tree_sitter import Language, Parser
from tree_sitter import Node as TreeNode

from permissions.shell.lexer import Lexer, Marks
from permissions.shell.syntax import (
    PRIVATE_MARKS,
    AndOr,
    Assignment,
    Branches,
    FunctionBody,
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
from permissions.shell.words import WordReader, join_words

MAX_CHARACTERS = 10_000
"""Longer commands are never allowed (documented limit)."""
MAX_NODES = 20_000
_MAX_DEPTH = 120

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_BLANKS = re.compile(rb"(?:[ \t]|\\\n)*")
_LINES = re.compile(rb"(?:[ \t\n]|\\\n)*")
_LOST_DASH = re.compile(rb"[ \t]+-[ \t]+")
_NUMBER_WORD = re.compile(r"[0-9]+")

_LANGUAGE = Language(tree_sitter_bash.language())
_PARSER = Parser(_LANGUAGE)

_WORD_TYPES = frozenset(
    {
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "array",
        "test_operator",
        "semgrep_metavariable",
    }
)
_OPAQUE_LEAVES = frozenset(
    {"word", "number", "string_content", "variable_name", "heredoc_content", "test_operator"}
)
_EXPANSIONS = frozenset(
    {
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
    }
)
_TIGHT = frozenset(
    {"command", "declaration_command", "unset_command", "variable_assignments", "file_redirect"}
)


@lru_cache(maxsize=1024)
def parse(command: str) -> Script | Unparsable:
    """Return the command as data, or why it is not understood (returned, so that it is cached)."""
    if len(command) > MAX_CHARACTERS:
        return Unparsable(f"the command has more than {MAX_CHARACTERS:,} characters")
    if _CONTROL.search(command):
        return Unparsable("the command contains control characters")
    if not command.isascii() and any(mark in PRIVATE_MARKS for mark in command):
        return Unparsable("the command contains private-use characters")
    try:
        source = command.encode("utf-8")
    except UnicodeEncodeError:
        return Unparsable("the command is not valid text")
    try:
        marks = Lexer(source.decode("latin-1")).scan()
        tree = _PARSER.parse(source)
        return _Builder(source, marks).script(tree.root_node)
    except Unparsable as error:
        return error
    except RecursionError:
        return Unparsable("nested too deeply")


class _Builder:
    """Turns one tree into `syntax`, checking every node on the way."""

    def __init__(self, source: bytes, marks: Marks) -> None:
        self._source = source
        self._marks = marks
        self._words = WordReader(source, self._substitution)
        self._depth = 0

    def script(self, root: TreeNode) -> Script:
        """Return the whole command."""
        if root.has_error:
            raise Unparsable("the command cannot be parsed")
        self._verify(root)
        body = Sequence(tuple(self._statements(root)))
        return Script(
            body,
            self._source.decode("utf-8").strip(),
            taints_variables=self._words.taints_variables,
            hides=self._words.hides,
        )

    # Verification: the tree and the lexer must agree.

    def _verify(self, root: TreeNode) -> None:
        quoted: set[tuple[int, int]] = set()
        comments: set[int] = set()
        expansions: set[int] = set()
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
            if kind in ("raw_string", "ansi_c_string"):
                quoted.add((node.start_byte, node.end_byte))
            elif kind == "comment":
                comments.add(node.start_byte)
            elif kind in _EXPANSIONS:
                expansions.add(node.start_byte)
            elif kind in _OPAQUE_LEAVES:
                self._no_operator_inside(node)
            elif kind in ("extglob_pattern", "regex"):
                self._no_separator_inside(node)
            children = node.children
            if children:
                self._check_gaps(node, kind, children)
                stack.extend(children)
        marks = self._marks
        documents = [span for span in marks.documents if span[0] < span[1]]
        hidden = {start for start in comments if any(a <= start < b for a, b in documents)}
        if marks.quoted != quoted:
            raise Unparsable("its quoting can be read in two ways")
        if marks.comments != comments - hidden:
            raise Unparsable("its comments can be read in two ways")
        if not marks.expansions <= expansions:
            raise Unparsable("it contains expansions that are not understood")
        if any(a <= start < b for start in expansions for a, b in documents):
            raise Unparsable("a here-document can be read in two ways")

    def _no_operator_inside(self, node: TreeNode) -> None:
        operators = self._marks.operators
        place = bisect_left(operators, node.start_byte)
        if place < len(operators) and operators[place] < node.end_byte:
            # A line that is continued holds a newline which the lexer has skipped already.
            raise Unparsable("its operators can be read in two ways")

    def _no_separator_inside(self, node: TreeNode) -> None:
        operators = self._marks.operators
        place = bisect_left(operators, node.start_byte)
        while place < len(operators) and operators[place] < node.end_byte:
            if self._source[operators[place]] in b";&\n<>":
                raise Unparsable("its operators can be read in two ways")
            place += 1

    def _check_gaps(self, node: TreeNode, kind: str, children: list[TreeNode]) -> None:
        """Between two nodes there is nothing but blanks, or text of a string."""
        if kind in ("string", "heredoc_body", "heredoc_redirect", "expansion", "regex"):
            return
        allowed = _BLANKS if kind in _TIGHT else _LINES
        position = node.start_byte
        for child in children:
            gap = self._source[position : child.start_byte]
            if gap and not allowed.fullmatch(gap) and not _is_lost_dash(kind, child, gap):
                raise Unparsable("part of it is not understood")
            if gap and not gap.replace(b"\\\n", b""):
                # The shell joins what stands on both sides; the grammar sees two words.
                raise Unparsable("a word is continued on the next line")
            position = max(position, child.end_byte)
        rest = self._source[position : node.end_byte]
        if rest and not allowed.fullmatch(rest):
            raise Unparsable("part of it is not understood")

    # Statements.

    def _raw(self, node: TreeNode) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _statements(self, parent: TreeNode) -> list[Node]:
        """Read the statements among the children; the separators decide how each runs."""
        items: list[Node] = []
        for child in parent.children:
            kind = child.type
            if kind == "&" and items:
                # The statement before it runs in the background, in a shell of its own.
                items[-1] = Isolated((items[-1],))
            elif child.is_named and kind not in _NOT_STATEMENTS:
                items.append(self.statement(child))
        return items

    def statement(self, node: TreeNode) -> Node:
        """Read one statement."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unparsable("nested too deeply")
        try:
            return self._statement(node)
        finally:
            self._depth -= 1

    def _statement(self, node: TreeNode) -> Node:
        match node.type:
            case "command":
                return self._command(node, ())
            case "redirected_statement":
                return self._redirected(node)
            case "list":
                return self._and_or(node)
            case "pipeline":
                return Isolated(tuple(self._operands(node)))
            case "subshell":
                return Isolated((Sequence(tuple(self._statements(node))),))
            case "compound_statement":
                return self._compound(node)
            case "negated_command":
                return Sequence(tuple(self._operands(node)))
            case "if_statement" | "elif_clause" | "else_clause":
                return self._branches(node, repeats=False)
            case "while_statement" | "for_statement" | "c_style_for_statement":
                return self._branches(node, repeats=True)
            case "do_group":
                return Sequence(tuple(self._statements(node)))
            case "case_statement" | "case_item":
                return self._branches(node, repeats=False)
            case "function_definition":
                return self._function(node)
            case "variable_assignment":
                return Simple(self._raw(node), (self._words.assignment(node),), ())
            case "variable_assignments":
                found = [self._words.assignment(child) for child in node.named_children]
                return Simple(self._raw(node), tuple(found), ())
            case "declaration_command" | "unset_command":
                return self._declaration(node)
            case "test_command":
                return self._test(node)
            case kind if kind in _WORD_TYPES:
                return Words(self._raw(node), (self._words.read(node),))
            case kind:
                raise Unparsable(f"it contains a {kind.replace('_', ' ')}")

    def _operands(self, node: TreeNode) -> list[Node]:
        return [
            self.statement(child)
            for child in node.children
            if child.is_named and child.type != "comment"
        ]

    def _and_or(self, node: TreeNode) -> Node:
        children = [child for child in node.children if child.type != "comment"]
        if len(children) == 2 and children[1].type == "&":
            return Isolated((self.statement(children[0]),))
        result = self.statement(children[0])
        position = 1
        while position + 1 < len(children):
            operator = children[position].type
            right = self.statement(children[position + 1])
            if operator in ("&&", "||"):
                result = AndOr(result, right, operator == "&&")
            elif operator == "&":
                result = Sequence((Isolated((result,)), right))
            elif operator in (";", "\n", ";;"):
                result = Sequence((result, right))
            else:
                raise Unparsable(f"an operator {operator} is not understood")
            position += 2
        return result

    def _compound(self, node: TreeNode) -> Node:
        if node.children and node.children[0].type == "((":
            return Words(self._raw(node), (self._words.arithmetic(node),))
        return Sequence(tuple(self._statements(node)))

    def _branches(self, node: TreeNode, *, repeats: bool) -> Node:
        conditions: list[Node] = []
        bodies: list[Node] = []
        current = conditions if node.type in ("if_statement", "elif_clause") else bodies
        if node.type == "while_statement":
            current = conditions
        for child in node.children:
            kind = child.type
            if kind in ("then", "do", "in"):
                current = bodies
            elif kind == "do_group" or kind in ("elif_clause", "else_clause", "case_item"):
                bodies.append(self.statement(child))
            elif not child.is_named or kind == "comment":
                if kind == "&" and current:
                    current[-1] = Isolated((current[-1],))
            elif kind == "variable_name":
                self._words.note_variable(self._raw(child))
            elif kind in ("extglob_pattern", "regex"):
                conditions.append(Words(self._raw(child), (self._words.scan(child),)))
            elif kind in _ARITHMETIC:
                conditions.append(Words(self._raw(child), (self._words.arithmetic(child),)))
            elif kind in _WORD_TYPES and node.type != "else_clause":
                conditions.append(Words(self._raw(child), (self._words.read(child),)))
            else:
                current.append(self.statement(child))
        if node.type == "case_item":
            return Sequence((*conditions, *bodies))
        if node.type == "else_clause":
            return Sequence(tuple(bodies))
        return Branches(
            tuple(conditions), (Sequence(tuple(bodies)),) if repeats else tuple(bodies), repeats
        )

    def _function(self, node: TreeNode) -> Node:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            raise Unparsable("a function is not understood")
        found: Node = FunctionBody(self._raw(name), self.statement(body))
        redirects = [self._redirect(child) for child in node.children if child.type in _REDIRECTS]
        return Redirected(found, tuple(redirects), self._raw(node)) if redirects else found

    def _test(self, node: TreeNode) -> Node:
        if node.children and node.children[0].type == "[":
            words = [self._words.literal("[")]
            words.extend(self._test_words(node))
            words.append(self._words.literal("]"))
            return Simple(self._raw(node), (), tuple(words))
        return Simple(self._raw(node), (), (self._words.literal("[["), *self._test_words(node)))

    def _test_words(self, node: TreeNode) -> list[Word]:
        found: list[Word] = []
        for child in node.children:
            kind = child.type
            if kind in ("[", "]", "[[", "]]") and child.parent == node:
                continue
            if kind in _WORD_TYPES:
                found.append(self._words.read(child))
            elif kind in ("regex", "extglob_pattern"):
                found.append(self._words.scan(child))
            elif child.named_child_count:
                found.extend(self._test_words(child))
            elif child.type == "variable_name":
                found.append(self._words.literal(self._raw(child)))
        return found

    # Simple commands.

    def _command(self, node: TreeNode, extra: tuple[Redirect, ...]) -> Simple:
        assignments: list[Assignment] = []
        words: list[list[TreeNode]] = []
        redirects: list[Redirect] = []
        position = -1
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                if words:
                    raise Unparsable("an assignment among arguments")
                assignments.append(self._words.assignment(child))
            elif kind in _REDIRECTS:
                redirects.append(self._redirect(child))
            elif kind == "command_name":
                words.append(list(child.children))
            elif kind in _WORD_TYPES:
                # Pieces that touch are one word for the shell, whatever the tree says.
                if words and position == child.start_byte:
                    words[-1].append(child)
                else:
                    words.append([child])
            elif kind in _ARGUMENT_TOKENS:
                words.append([child])
            else:
                raise Unparsable(f"'{self._raw(child)}' is not understood here")
            position = child.end_byte
        read: list[Word] = []
        for pieces in words:
            read.extend(self._words.expand(pieces))
        self._words.note_command(read)
        return Simple(
            self._without_redirects(node),
            tuple(assignments),
            tuple(read),
            (*redirects, *extra),
        )

    def _without_redirects(self, node: TreeNode) -> str:
        pieces: list[str] = []
        position = node.start_byte
        for child in node.children:
            if child.type in _REDIRECTS:
                before = self._source[position : child.start_byte]
                pieces.append(before.decode("utf-8", "replace"))
                position = child.end_byte
        pieces.append(self._source[position : node.end_byte].decode("utf-8", "replace"))
        return "".join(pieces).strip()

    def _declaration(self, node: TreeNode) -> Simple:
        words: list[Word] = []
        for child in node.children:
            kind = child.type
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
        self._words.note_command(words)
        return Simple(self._raw(node), (), tuple(words))

    # Redirections.

    def _redirected(self, node: TreeNode) -> Node:
        body: Node | None = None
        body_type = ""
        body_end = node.end_byte
        redirects: list[Redirect] = []
        after: list[Node] = []
        for child in node.children:
            if child.type in _REDIRECTS:
                if child.type == "heredoc_redirect":
                    if _LOST_DASH.fullmatch(self._source[body_end : child.start_byte]):
                        body = _with_dash(body)
                    after.extend(self._after_document(child, redirects))
                redirects.append(self._redirect(child))
            elif child.is_named and child.type != "comment":
                body = self.statement(child)
                body_type = child.type
                body_end = child.end_byte
        result: Node
        if body is None:
            result = Simple("", (), (), tuple(redirects))
        else:
            result = _redirect_last(body, tuple(redirects), self._raw(node), body_type)
        if not after:
            return result
        return _after(result, after)

    def _after_document(self, node: TreeNode, redirects: list[Redirect]) -> list[Node]:
        """Read what stands on the line after `<<EOF`: the tree keeps it inside the redirection."""
        found: list[Node] = []
        for child in node.children:
            kind = child.type
            if kind in _DOCUMENT_PARTS:
                continue
            if kind in _REDIRECTS:
                redirects.append(self._redirect(child))
            elif kind in ("&&", "||"):
                found.append(Words(kind, ()))
            elif kind == "pipeline":
                found.append(Isolated(tuple(self._operands(child))))
            elif kind in _WORD_TYPES and node.child_by_field_name("argument") is not None:
                raise Unparsable("arguments after a here-document")
            elif child.is_named:
                found.append(self.statement(child))
            elif kind not in ("|", "|&", ";", "&", "\n"):
                raise Unparsable(f"'{self._raw(child)}' after a here-document")
        return found

    def _redirect(self, node: TreeNode) -> Redirect:
        raw = self._raw(node)
        if node.type == "heredoc_redirect":
            scripts: list[Script] = []
            for child in node.children:
                if child.type == "heredoc_body":
                    scripts.extend(self._words.scan(child).scripts)
            return Redirect(raw, RedirectKind.TEXT, None, tuple(scripts))
        if node.type == "herestring_redirect":
            word = self._words.scan(node)
            return Redirect(raw, RedirectKind.TEXT, None, word.scripts)
        operator = ""
        targets: list[TreeNode] = []
        for child in node.children:
            if child.type == "file_descriptor":
                continue
            if not child.is_named and child.type in _OPERATORS:
                operator = child.type
            else:
                targets.append(child)
        if operator not in _OPERATORS:
            raise Unparsable("a redirection is not understood")
        if operator in (">&-", "<&-"):
            return Redirect(raw, RedirectKind.DUPLICATE, None)
        words = self._split_targets(targets)
        if len(words) != 1:
            # `> a b` puts further words of the command behind the target.
            raise Unparsable("words after a redirection")
        target = words[0]
        if operator in (">&", "<&") and (_NUMBER_WORD.fullmatch(target.text) or target.text == "-"):
            return Redirect(raw, RedirectKind.DUPLICATE, None)
        if operator == "<&":
            raise Unparsable("an unusual descriptor")
        kind = RedirectKind.READ if operator == "<" else RedirectKind.WRITE
        return Redirect(raw, kind, target, target.scripts)

    def _split_targets(self, targets: list[TreeNode]) -> list[Word]:
        groups: list[list[TreeNode]] = []
        position = -1
        for target in targets:
            if target.type not in _WORD_TYPES:
                raise Unparsable("the target of a redirection is not understood")
            if groups and position == target.start_byte:
                groups[-1].append(target)
            else:
                groups.append([target])
            position = target.end_byte
        found: list[Word] = []
        for group in groups:
            found.extend(self._words.expand(group))
        return found

    # Substitutions.

    def _substitution(self, node: TreeNode) -> Script:
        """Read the commands inside `$(…)`, backticks, `<(…)` or `>(…)`."""
        body: list[Node] = []
        if any(child.type in _REDIRECTS for child in node.children):
            # `$(<file)`
            redirects = tuple(
                self._redirect(child) for child in node.children if child.type in _REDIRECTS
            )
            body.append(Simple("", (), (), redirects))
        body.extend(self._statements_but_redirects(node))
        return Script(Sequence(tuple(body)), self._raw(node))

    def _statements_but_redirects(self, node: TreeNode) -> list[Node]:
        items: list[Node] = []
        for child in node.children:
            if child.type == "&" and items:
                items[-1] = Isolated((items[-1],))
            elif child.is_named and child.type not in _NOT_STATEMENTS | _REDIRECTS:
                items.append(self.statement(child))
        return items


def _is_lost_dash(kind: str, child: TreeNode, gap: bytes) -> bool:
    """Is this the lone `-` before a here-document, which the grammar drops?"""
    is_place = kind == "redirected_statement" and child.type == "heredoc_redirect"
    return is_place and _LOST_DASH.fullmatch(gap) is not None


def _with_dash(body: Node | None) -> Node:
    if not isinstance(body, Simple):
        raise Unparsable("part of it is not understood")
    return Simple(f"{body.raw} -", body.assignments, (*body.words, Word("-", "-")), body.redirects)


def _redirect_last(
    body: Node, redirects: tuple[Redirect, ...], raw: str, body_type: str = ""
) -> Node:
    """Attach redirections; the tree hangs those of a list's last command around the whole list."""
    if isinstance(body, Simple):
        return Simple(body.raw, body.assignments, body.words, (*body.redirects, *redirects))
    if body_type in ("list", "pipeline", "negated_command"):
        if isinstance(body, AndOr):
            right = _redirect_last(body.right, redirects, raw, "list")
            return AndOr(body.left, right, body.is_and)
        if isinstance(body, Isolated) and len(body.items) > 1:
            last = _redirect_last(body.items[-1], redirects, raw)
            return Isolated((*body.items[:-1], last))
        if isinstance(body, Sequence) and len(body.items) == 1:
            return Sequence((_redirect_last(body.items[0], redirects, raw),))
    return Redirected(body, redirects, raw)


def _after(first: Node, rest: list[Node]) -> Node:
    """Put what followed a here-document's delimiter on its line back in order."""
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


_NOT_STATEMENTS = frozenset({"comment", "heredoc_body", "heredoc_end"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_DOCUMENT_PARTS = frozenset(
    {"<<", "<<-", "heredoc_start", "heredoc_body", "heredoc_end", "file_descriptor", "comment"}
)
_OPERATORS = frozenset({"<", ">", ">>", "&>", "&>>", "<&", ">&", ">|", "<&-", ">&-"})
_ARITHMETIC = frozenset(
    {
        "binary_expression",
        "unary_expression",
        "postfix_expression",
        "ternary_expression",
        "parenthesized_expression",
        "subscript",
    }
)
_ARGUMENT_TOKENS = frozenset({"=~", "==", "(", ")"})
