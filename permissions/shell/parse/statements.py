"""Reads the statements of a tree-sitter tree into `syntax`.

Fails closed: an unsupported node type raises `Unparsable`.
"""

from __future__ import annotations

from itertools import pairwise

from tree_sitter import Node as TreeNode

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.parse.assignments import decides
from permissions.shell.parse.loop_variables import LoopVariables
from permissions.shell.parse.redirections import RedirectionReader
from permissions.shell.parse.simple_commands import CommandReader
from permissions.shell.parse.tree_nodes import REDIRECTS, WORDS, raw_text
from permissions.shell.parse.words import WordReader
from permissions.shell.syntax import (
    AndOr,
    Assignment,
    Branches,
    FunctionBody,
    Isolated,
    Node,
    Redirected,
    Script,
    Sequence,
    Simple,
    Unparsable,
    Word,
    Words,
)

_MAX_DEPTH = 120
_NOT_STATEMENTS = frozenset({"comment", "heredoc_body", "heredoc_end"})
_ARITHMETIC = frozenset(
    """
    binary_expression unary_expression postfix_expression ternary_expression
    parenthesized_expression subscript
    """.split()
)
_REPEATING = frozenset({"while_statement", "c_style_for_statement"})
_BRANCHING = _REPEATING | {
    "if_statement", "elif_clause", "else_clause", "case_statement", "case_item"
}  # fmt: skip
_CONDITION_FIRST = frozenset({"if_statement", "elif_clause", "while_statement"})
_CLAUSES = frozenset({"do_group", "elif_clause", "else_clause", "case_item"})
_LOOP = frozenset({"for", "variable_name", "in", ";", "\n", "comment", "do_group"})


class StatementReader:
    """Reads one tree, including its substitutions."""

    def __init__(
        self,
        source: bytes,
        temp_dir: str = "",
        single_assignment_names: frozenset[str] = frozenset(),
    ) -> None:
        """`single_assignment_names` is the result of the first pass (`LoopVariables`).

        `temp_dir` is the value of TMPDIR; empty if it is not known.
        """
        self._loops = LoopVariables(single_assignment_names)
        self._is_first = not single_assignment_names
        self._source = source
        self._temp_dir = temp_dir
        self._words = WordReader(source, self._substitution, self._loops, temp_dir)
        self._redirections = RedirectionReader(source, self._words, self.statement)
        self._commands = CommandReader(source, self._words, self._redirections, self._loops)
        self._depth = 0

    def script(self, root: TreeNode) -> Script:
        """Return the whole command."""
        body = Sequence(tuple(self._statements(root)))
        if self._is_first and self._loops.single_assignment_names:
            return StatementReader(
                self._source, self._temp_dir, self._loops.single_assignment_names
            ).script(root)
        return Script(
            body,
            self._source.decode("utf-8").strip(),
            taints_variables=self._words.taints_variables,
            unknown_reason=self._words.unknown_reason,
            may_set_any=self._loops.is_invalid,
            functions=frozenset(self._words.functions),
        )

    def _raw(self, node: TreeNode) -> str:
        return raw_text(self._source, node)

    def _statements(self, parent: TreeNode) -> list[Node]:
        """Read the child statements; the separators decide how each runs."""
        items: list[Node] = []
        for child in parent.children:
            kind = child.type
            if kind == "&" and items:
                # The previous statement runs in the background, in a shell of its own.
                items[-1] = Isolated((items[-1],), is_background=True)
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
                return self._read_time(node) or self._commands.command(node)
            case "redirected_statement":
                return self._redirections.read_redirected(node)
            case "function_definition":
                return self._function(node)
            case "variable_assignment":
                return Simple(self._raw(node), (self._words.assignment(node),), ())
            case "variable_assignments":
                assignments = [self._words.assignment(child) for child in node.named_children]
                return Simple(self._raw(node), tuple(assignments), ())
            case "declaration_command" | "unset_command":
                return self._commands.declaration(node)
            case "test_command":
                return self._commands.test(node)
            case kind if kind in WORDS:
                return Words(self._raw(node), (self._words.read(node),))
            case _:
                return self._several(node)

    def _several(self, node: TreeNode) -> Node:
        """Read a statement that consists of others."""
        match node.type:
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
            case "for_statement":
                return self._read_for(node)
            case "do_group":
                return Sequence(tuple(self._statements(node)))
            case kind if kind in _BRANCHING:
                return self._branches(node, repeats=kind in _REPEATING)
            case kind:
                raise Unparsable(f"it contains a {kind.replace('_', ' ')}")

    def _read_time(self, node: TreeNode) -> Node | None:
        """Read `time (…)`, which the grammar parses as a command followed by a subshell."""
        children = node.children
        if len(children) != 2 or children[1].type != "subshell" or self._raw(children[0]) != "time":
            return None
        return Sequence((Simple("time", (), (Word("time", "time"),)), self.statement(children[1])))

    def _operands(self, node: TreeNode) -> list[Node]:
        return [
            self.statement(child)
            for child in node.children
            if child.is_named and child.type != "comment"
        ]

    def _and_or(self, node: TreeNode) -> Node:
        children = [child for child in node.children if child.type != "comment"]
        if len(children) == 2 and children[1].type == "&":
            return Isolated((self.statement(children[0]),), is_background=True)
        result = self.statement(children[0])
        position = 1
        while position + 1 < len(children):
            operator = children[position].type
            right = self.statement(children[position + 1])
            if operator in ("&&", "||"):
                result = AndOr(result, right, operator == "&&")
            elif operator == "&":
                result = Sequence((Isolated((result,), is_background=True), right))
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

    def _read_for(self, node: TreeNode) -> Node:
        """Read a loop over words: in its body, the variable is one of them. A variable that decides
        what programs do is read as an assignment.
        """
        name = node.child_by_field_name("variable")
        body = self._loop(node, name)
        if name is None or not decides(self._raw(name)):
            return body
        assignment = Assignment(f"{self._raw(name)}=…", self._raw(name), Word("…", UNKNOWN))
        return Sequence((Simple(assignment.raw, (assignment,), ()), body))

    def _loop(self, node: TreeNode, name: TreeNode | None) -> Node:
        if name is None or self._raw(node.children[0]) != "for":
            self._loops.invalidate()
            if name is not None:
                self._words.evaluation.note_unknown(self._raw(name))
            return self._branches(node, repeats=True)
        words = self._loop_words(node)
        for word in words:
            self._words.evaluation.note_value(self._raw(name), word)
        if not words:
            self._words.evaluation.note_unknown(self._raw(name))
        self._loops.enter(self._raw(name), words)
        try:
            return self._branches(node, repeats=True)
        finally:
            self._loops.leave(self._raw(name))

    def _loop_words(self, node: TreeNode) -> list[Word]:
        """Return the words of `for x in …`; [] if they cannot be determined."""
        nodes = [child for child in node.children if child.type in WORDS]
        if not all(child.type in WORDS or child.type in _LOOP for child in node.children):
            return []
        if any(one.end_byte == two.start_byte for one, two in pairwise(nodes)):
            return []
        return [word for one in nodes for word in self._words.expand([one])]

    def _branches(self, node: TreeNode, *, repeats: bool) -> Node:
        if node.type == "c_style_for_statement":
            self._words.evaluation.note_evaluated(self._raw(node).partition("))")[0][3:])
        conditions, bodies = self._clauses(node)
        if node.type == "case_item":
            return Sequence((*conditions, *bodies))
        if node.type == "else_clause":
            return Sequence(tuple(bodies))
        return Branches(
            tuple(conditions), (Sequence(tuple(bodies)),) if repeats else tuple(bodies), repeats
        )

    def _clauses(self, node: TreeNode) -> tuple[list[Node], list[Node]]:
        """Return the nodes before `then`, `do` or `in`, and those after it."""
        conditions: list[Node] = []
        bodies: list[Node] = []
        current = conditions if node.type in _CONDITION_FIRST else bodies
        for child in node.children:
            kind = child.type
            if kind in ("then", "do", "in"):
                current = bodies
            elif kind in _CLAUSES:
                bodies.append(self.statement(child))
            elif not child.is_named or kind == "comment":
                if kind == "&" and current:
                    current[-1] = Isolated((current[-1],), is_background=True)
            elif kind == "variable_name":
                self._words.note_variable(self._raw(child))
            elif (words := self._read_condition(child, node)) is not None:
                conditions.append(words)
            else:
                current.append(self.statement(child))
        return conditions, bodies

    def _read_condition(self, child: TreeNode, node: TreeNode) -> Words | None:
        """Read the words of a condition: a subject, a pattern, arithmetic; None for commands."""
        kind = child.type
        if kind in ("extglob_pattern", "regex"):
            word = self._words.scan(child)
        elif kind in _ARITHMETIC:
            word = self._words.arithmetic(child)
        elif kind in WORDS and node.type != "else_clause":
            word = self._words.read(child)
        else:
            return None
        return Words(self._raw(child), (word,))

    def _function(self, node: TreeNode) -> Node:
        self._loops.invalidate()
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        if name is None or body is None:
            raise Unparsable("a function is not understood")
        self._words.note_function(self._raw(name))
        function: Node = FunctionBody(self._raw(name), self.statement(body))
        redirects = [
            self._redirections.read(child) for child in node.children if child.type in REDIRECTS
        ]
        return Redirected(function, tuple(redirects), self._raw(node)) if redirects else function

    # Substitutions.

    def _substitution(self, node: TreeNode) -> Script:
        """Read the commands inside `$(…)`, backticks, `<(…)` or `>(…)`."""
        body: list[Node] = []
        if self._raw(node).startswith("$(("):
            # In a here-document, the grammar parses arithmetic as a command in a subshell.
            raise Unparsable("arithmetic that can be read in two ways")
        if any(child.type in REDIRECTS for child in node.children):
            # `$(<file)`
            redirects = tuple(
                self._redirections.read(child) for child in node.children if child.type in REDIRECTS
            )
            body.append(Simple("", (), (), redirects))
        body.extend(self._statements_but_redirects(node))
        return Script(Sequence(tuple(body)), self._raw(node))

    def _statements_but_redirects(self, node: TreeNode) -> list[Node]:
        items: list[Node] = []
        for child in node.children:
            if child.type == "&" and items:
                items[-1] = Isolated((items[-1],), is_background=True)
            elif child.is_named and child.type not in _NOT_STATEMENTS | REDIRECTS:
                items.append(self.statement(child))
        return items
