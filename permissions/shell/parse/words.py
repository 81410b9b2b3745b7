"""Reads words: quotes removed, escapes and braces resolved, expansions replaced by marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec.structs import replace
from tree_sitter import Node as TreeNode

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.parse.arithmetic_evaluation import EVALUATING, ArithmeticEvaluation
from permissions.shell.parse.braces import (
    BRACES,
    MAX_ALL_BRACE_WORDS,
    NAME_END,
    TILDE,
    UNBRACE,
    expand_word,
)
from permissions.shell.parse.loop_variables import CHANGING, LoopVariables
from permissions.shell.syntax import (
    GLOB_MARKS,
    HOME_MARK,
    PIPE_MARK,
    PWD_MARK,
    Assignment,
    Script,
    Unparsable,
    Word,
)

_PLAIN_EXPANSION = compile_late(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_QUOTED_VARIABLE = compile_late(r'"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})"', re.ASCII)
_TEMP_DIR = compile_late(r"\$TMPDIR(?!\w)|\$\{TMPDIR(?::?-[\w./-]*)?\}", re.ASCII)
"""A use of TMPDIR that expands to its value only; a default has no effect, as TMPDIR is set."""
_DYNAMIC_EXPANSION = compile_late(r"^\$\{!|@[A-Za-z]\}$")
_ASSIGNING_EXPANSION = compile_late(r"^\$\{[A-Za-z_][A-Za-z0-9_]*:?=")
_POSITIONAL = compile_late(r"\$[0-9](\w+)", re.ASCII)
"""`$1x`, which the grammar parses as one name, although only the digit is a name."""
_NUMERIC = frozenset({"$?", "$#", "$$"})
_PWD_COMMAND = compile_late(r"\$\(\s*pwd\s*\)|`\s*pwd\s*`")
_TRACKED = frozenset({"HOME", "PWD", "OLDPWD", "CDPATH", "IFS"})
_TWO_WORDS = compile_late(rb"\][ \t]+\{")
"""Text that the grammar wrongly parses as one word."""
_PLAIN_WORD = compile_late(rb"[A-Za-z0-9_./:@%+=^-]+")
_ANSI = compile_late(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_ANSI_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


class WordReader:
    """Reads the words of one command text and records what its expansions could do."""

    def __init__(
        self,
        source: bytes,
        substitution: Callable[[TreeNode], Script],
        loops: LoopVariables,
        temp_dir: str = "",
    ) -> None:
        """`substitution` reads the commands inside a substitution.

        `temp_dir` is the value of TMPDIR; empty if it is not known.
        """
        self._loops = loops
        self._temp_dir = temp_dir
        self._source = source
        self._substitution = substitution
        self.taints_variables = False
        self.functions: set[str] = set()
        self._reasons: list[str] = []
        self._brace_words = 0
        self.evaluation = ArithmeticEvaluation()

    @property
    def unknown_reason(self) -> str:
        """Return why some of what runs is unknown; empty if all is known."""
        if self._reasons:
            return self._reasons[0]
        return self.evaluation.unknown_reason

    def _raw(self, node: TreeNode) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def literal(self, text: str) -> Word:
        """Return a word for a keyword."""
        return Word(text, text)

    def read(self, node: TreeNode) -> Word:
        """Read one node as one word. Raises Unparsable if braces expand it to several."""
        words = self.expand([node])
        if len(words) == 1:
            return words[0]
        raw = self._raw(node)
        scripts = tuple(script for word in words for script in word.scripts)
        return Word(raw, UNKNOWN, True, scripts)

    def expand(self, nodes: Sequence[TreeNode]) -> list[Word]:
        """Read adjacent nodes as one word, and expand its braces."""
        first, last = nodes[0], nodes[-1]
        if first is last and first.type == "word":
            # Most words are plain and need no parsing.
            word = self._source[first.start_byte : first.end_byte]
            if _PLAIN_WORD.fullmatch(word):
                text = word.decode("ascii")
                return [Word(text, text)]
            if _TWO_WORDS.fullmatch(word):
                return [Word("]", "]"), Word("{", "{")]
        raw = self._source[first.start_byte : last.end_byte].decode("utf-8", "replace")
        pieces = [self._piece(node, at_start=node is first) for node in nodes]
        whole = join_words(raw, pieces)
        if whole.text.isascii():
            return [whole]
        words = expand_word(whole)
        self._brace_words += len(words)
        if self._brace_words > MAX_ALL_BRACE_WORDS:
            raise Unparsable("brace expansions give too many words")
        return words

    def scan(self, node: TreeNode) -> Word:
        """Return an unknown word with every substitution below `node`."""
        scripts: list[Script] = []
        self._collect(node, scripts)
        return Word(self._raw(node), UNKNOWN, False, tuple(scripts))

    def arithmetic(self, node: TreeNode) -> Word:
        """Read arithmetic: unknown, and evaluating it may run what variables hold."""
        self._loops.invalidate()
        self.evaluation.note_evaluated(self._raw(node))
        return self.scan(node)

    def assignment(self, node: TreeNode) -> Assignment:
        """Read `NAME=value`."""
        name_node = node.child_by_field_name("name")
        value_node = node.child_by_field_name("value")
        if name_node is None:
            raise Unparsable("an assignment is not understood")
        scripts: list[Script] = []
        if name_node.type == "subscript":
            self._loops.invalidate()
            self.evaluation.note_subscript(self._raw(name_node))
            self._collect(name_node, scripts)
            inner = name_node.child_by_field_name("name")
            name = self._raw(inner if inner is not None else name_node)
        else:
            name = self._raw(name_node)
        self._loops.note_assignment(name)
        self.note_variable(name)
        if value_node is None:
            value = Word("", "")
        elif value_node.type == "array":
            value = self.scan(value_node)
            self.evaluation.note_elements(name, value.raw)
        else:
            pieces = [value_node]
            value_pieces = [self._piece(piece, at_start=True) for piece in pieces]
            value = join_words(self._raw(value_node), value_pieces)
            # In a value, patterns for file names and brace lists are not expanded.
            value = Word(value.raw, value.plain.translate(UNBRACE), value.splits, value.scripts)
        self.evaluation.note_value(name, value)
        if scripts:
            value = Word(value.raw, value.text, value.splits, (*value.scripts, *scripts))
        return Assignment(self._raw(node), name, value)

    def note_variable(self, name: str) -> None:
        """Record that a variable is set. Raises Unparsable for one that changes pattern
        matching."""
        if name == "GLOBIGNORE":
            raise Unparsable("GLOBIGNORE changes which files patterns reach")
        if name in _TRACKED:
            self.taints_variables = True

    def note_function(self, name: str) -> None:
        """Record a function; one named `pwd` may print anything."""
        self.functions.add(name)
        if name == "pwd":
            self.taints_variables = True

    def note_command(self, words: Sequence[Word]) -> None:
        """Record what a command's name and arguments do to variables."""
        if not words or changes_nothing(words):
            return
        name = words[0].text.rpartition("/")[2]
        if name == "shopt" and any(word.text in _REACHING for word in words):
            raise Unparsable("shopt changes which files patterns reach")
        self._loops.note_command(words)
        # Only these builtins set variables that an argument names.
        if name in _RUNNING_BUILTINS or (
            name in _SETTING_BUILTINS and any(_mentions_tracked(word) for word in words[1:])
        ):
            self.taints_variables = True
        self.evaluation.note_command(name, words[1:])

    def _piece(self, node: TreeNode, *, at_start: bool) -> Word:
        raw = self._raw(node)
        match node.type:
            case "word" | "number" | "test_operator" | "semgrep_metavariable":
                if node.child_count and node.type == "number":
                    return self.scan(node)
                return Word(raw, _unquote(raw, at_start=at_start))
            case "raw_string":
                return Word(raw, raw[1:-1])
            case "ansi_c_string":
                return Word(raw, _ansi(raw[2:-1]))
            case "string":
                return self._string(node)
            case "concatenation":
                return join_words(raw, self._pieces(node, at_start=at_start))
            case "simple_expansion":
                if self._source.startswith(b"\\\n", node.end_byte):
                    raise Unparsable("a name may continue on the next line")
                word = self._read_expansion(node, raw.lstrip(" \t\n"))
                return replace(word, text=word.text + NAME_END)
            case kind if kind in _EXPANDING:
                return self._read_expansion(node, raw.lstrip(" \t\n"))
            case _:
                return self._unusual(node, raw)

    def _read_expansion(self, node: TreeNode, raw: str) -> Word:
        """Read a piece whose value is determined when the command runs."""
        match node.type:
            case "command_substitution":
                script = self._substitution(node)
                if _PWD_COMMAND.fullmatch(raw):
                    return Word(raw, PWD_MARK, False, (script,))
                return Word(raw, UNKNOWN, True, (script,))
            case "process_substitution":
                return Word(raw, PIPE_MARK, False, (self._substitution(node),))
            case "arithmetic_expansion":
                return Word(raw, UNKNOWN, False, self.arithmetic(node).scripts)
            case _:
                return self._variable(node, raw)

    def _unusual(self, node: TreeNode, raw: str) -> Word:
        match node.type:
            case "brace_expression":
                # The grammar treats a quoted `$` before it as part of it.
                return Word(raw, _unquote(raw, at_start=False))
            case "array":
                return self.scan(node)
            case kind if not node.is_named and kind in ("==", "=~", "(", ")", "{", "}"):
                return Word(raw, raw)
            case kind:
                raise Unparsable(f"a {kind.replace('_', ' ')} in a word")

    def _pieces(self, node: TreeNode, *, at_start: bool) -> list[Word]:
        pieces: list[Word] = []
        position = node.start_byte
        for child in node.children:
            if child.start_byte != position:
                raise Unparsable("a word with a gap")
            pieces.append(self._piece(child, at_start=at_start and not pieces))
            position = child.end_byte
        return pieces

    def _string(self, node: TreeNode) -> Word:
        pieces: list[Word] = []
        position = node.start_byte + 1
        for child in node.children[1:-1]:
            if child.start_byte > position:
                pieces.append(self._string_text(position, child.start_byte))
            if child.type in ("string_content", '"', "$"):
                pieces.append(self._string_text(child.start_byte, child.end_byte))
            else:
                raw = self._raw(child)
                expansion = raw.lstrip(" \t\n")
                if expansion != raw:
                    # The grammar treats blanks before it as part of it.
                    blanks = raw[: -len(expansion)]
                    pieces.append(Word(blanks, blanks))
                piece = self._piece(child, at_start=False)
                text = piece.text.replace(NAME_END, "")
                # `"$@"` and `"${a[@]}"` are any number of words.
                pieces.append(Word(piece.raw, text, "@" in raw and piece.splits, piece.scripts))
            position = child.end_byte
        if position < node.end_byte - 1:
            pieces.append(self._string_text(position, node.end_byte - 1))
        if not pieces:
            return Word(self._raw(node), "")
        variable = _QUOTED_VARIABLE.fullmatch(self._raw(node))
        if variable:
            choices = self._loops.values(variable[1] or variable[2])
            return Word(self._raw(node), pieces[0].text, False, pieces[0].scripts, "", choices)
        return join_words(self._raw(node), pieces)

    def _string_text(self, start: int, end: int) -> Word:
        raw = self._source[start:end].decode("utf-8", "replace")
        return Word(raw, re.sub(r'\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], raw))

    def _variable(self, node: TreeNode, raw: str) -> Word:
        plain = _PLAIN_EXPANSION.fullmatch(raw)
        name = plain[1] if plain else raw[1:] if node.type == "simple_expansion" else ""
        if name == "HOME":
            return Word(raw, HOME_MARK)
        if name == "PWD":
            return Word(raw, PWD_MARK)
        if self._temp_dir and _TEMP_DIR.fullmatch(raw):
            return Word(raw, self._temp_dir)
        if name == "IFS" or raw.startswith("${IFS"):
            self._reasons.append("$IFS can move word boundaries")
        if raw in _NUMERIC:
            return Word(raw, UNKNOWN)
        positional = _POSITIONAL.fullmatch(raw)
        if positional:
            return Word(raw, UNKNOWN + positional[1], True)
        scripts: list[Script] = []
        if node.type == "expansion" and not plain:
            self._note_expansion(raw)
            self._collect(node, scripts)
        return Word(raw, UNKNOWN, True, tuple(scripts))

    def _note_expansion(self, raw: str) -> None:
        """Record what `${…}` does besides expanding to a value."""
        self._loops.note_expansion(raw)
        if _DYNAMIC_EXPANSION.search(raw):
            self._reasons.append(f"{raw} runs what a variable holds")
        if _ASSIGNING_EXPANSION.search(raw):
            self._reasons.append(f"{raw} sets a variable")
        self.evaluation.note_expansion(raw)

    def _collect(self, node: TreeNode, scripts: list[Script]) -> None:
        for child in node.children:
            match child.type:
                case "command_substitution" | "process_substitution":
                    scripts.append(self._substitution(child))
                case "simple_expansion" | "expansion":
                    raw = self._raw(child).lstrip(" \t\n")
                    scripts.extend(self._variable(child, raw).scripts)
                case "arithmetic_expansion":
                    scripts.extend(self.arithmetic(child).scripts)
                case "heredoc_redirect" | "file_redirect":
                    raise Unparsable("a redirection inside an expansion")
                case _:
                    self._collect(child, scripts)


_EXPANDING = frozenset(
    """
    simple_expansion expansion command_substitution process_substitution arithmetic_expansion
    """.split()
)
_SETTING_BUILTINS = frozenset(
    """
    read printf export declare typeset local readonly unset mapfile readarray getopts let wait
    """.split()
)
_REACHING = frozenset({"dotglob", "nocaseglob"})
_RUNNING_BUILTINS = frozenset({"eval", "source", "."})
_NOTED = _SETTING_BUILTINS | _RUNNING_BUILTINS | CHANGING | EVALUATING
"""All known programs that may change variables."""


def only_uses_temp_dir(command: str) -> bool:
    """Return whether a command uses TMPDIR only by expanding to its value."""
    if "TMPDIR" not in command:
        return False
    # A name may continue on the next line: `TMP\⏎DIR=…`.
    return "TMPDIR" not in _TEMP_DIR.sub(" ", command.replace("\\\n", ""))


def changes_nothing(words: Sequence[Word]) -> bool:
    """Return whether the command's program is known not to change variables."""
    return words[0].is_literal and words[0].text.rpartition("/")[2] not in _NOTED


def join_words(raw: str, pieces: Sequence[Word]) -> Word:
    """Join adjacent pieces into one word."""
    if len(pieces) == 1:
        piece = pieces[0]
        return piece if piece.raw == raw else replace(piece, raw=raw)
    if pieces[0].raw in _TILDES and not pieces[1].raw.startswith("/"):
        # `~'/x'` and `~$NAME` name no home directory.
        pieces = [replace(pieces[0], text=pieces[0].raw.replace("~", TILDE)), *pieces[1:]]
    return Word(
        raw,
        "".join(piece.text for piece in pieces),
        any(piece.splits for piece in pieces),
        tuple(script for piece in pieces for script in piece.scripts),
    )


def _mentions_tracked(word: Word) -> bool:
    return word.is_unknown or any(name in word.text for name in _TRACKED)


_TILDES = {"~": HOME_MARK, "~+": PWD_MARK}
_ASSIGNED_NAME = compile_late(r"[A-Za-z_]\w*\+?=", re.ASCII)


def _unquote(raw: str, *, at_start: bool) -> str:
    """Resolve escapes of an unquoted word; mark its tilde, globs and braces."""
    if raw.isalnum():
        return raw
    pieces: list[str] = []
    position = 0
    if at_start and raw.startswith("~"):
        tilde = raw.partition("/")[0]
        pieces.append(_TILDES.get(tilde, UNKNOWN))
        position = len(tilde)
    name = _ASSIGNED_NAME.match(raw) if at_start and "~" in raw else None
    while position < len(raw):
        character = raw[position]
        if character in " \t\n":
            # The grammar parses `] {` as one word.
            raise Unparsable("a word with a blank")
        if character == "\\":
            following = raw[position + 1 : position + 2]
            if following != "\n":
                pieces.append(following)
            position += 2
            continue
        if character == "~":
            text, position = _later_tilde(raw, position, name.end() if name else None)
            pieces.append(text)
            continue
        pieces.append(GLOB_MARKS.get(character) or BRACES.get(character) or character)
        position += 1
    return "".join(pieces)


def _later_tilde(raw: str, start: int, value_start: int | None) -> tuple[str, int]:
    """Return what stands for an unquoted tilde that does not begin the word, and where the rest
    begins.

    The shell expands it where the word looks like an assignment: `dd of=~/x`.
    """
    if start != value_start and raw[start - 1 : start] != ":":
        return TILDE, start + 1
    prefix = re.split("[/:]", raw[start:], maxsplit=1)[0]
    end = start + len(prefix)
    if any(mark in prefix for mark in "{},\\"):
        return TILDE, start + 1
    is_home = prefix == "~" and value_start is not None and end < len(raw)
    return (HOME_MARK if is_home else UNKNOWN), end


def _ansi(body: str) -> str:
    def value(match: re.Match[str]) -> str:
        for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
            if match[group]:
                number = int(match[group], base)
                if number in range(0xD800, 0xE100) or number > 0x10FFFF or number == 0:
                    raise Unparsable("an unusual character in $'…'")
                # Characters above 127 depend on the locale.
                return chr(number) if number < 128 else UNKNOWN
        if match[5]:
            return chr(ord(match[5]) & 0x1F)
        return _ANSI_LETTERS.get(match[6], "\\" + match[6])

    return _ANSI.sub(value, body)
