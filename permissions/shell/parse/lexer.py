"""A second, independent parser for the quoting in a command.

The syntax tree alone is not trusted: this small scanner implements bash's quoting rules
independently and lists every expansion and operator. A difference between the two results makes the
command unparsable, which is never allowed.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

from permissions.base.text.late_pattern import compile_late
from permissions.shell.syntax import Unparsable

MAX_DEPTH = 40
"""Maximum nesting of substitutions and quotes; with more, a command is unparsable."""

_NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_SPECIAL = frozenset("0123456789@*#?$!-")
_OPERATORS = frozenset(";&|<>()\n")
_BLANK = frozenset(" \t")
_WORD_BREAK = _OPERATORS | _BLANK
_PLAIN = r"""[^\\'"$`<>();&|\n \t]"""
"""Characters without a meaning to the shell after the start of a word."""
_PLAIN_RUN = compile_late(f"{_PLAIN}+")
_STRETCH = compile_late(rf"(?!#|case|esac){_PLAIN}+(?:[ \t;&|]+(?!#|case|esac){_PLAIN}+)*")
"""Plain words, blanks and operators between them: none of them opens or closes anything."""
_JOINING = compile_late(r"[;&|]")
_BLANKS = compile_late(r"[ \t]+")
_STRING_RUN = compile_late(r"""[^"\\$`]+""")
_BRACE_RUN = compile_late(r"""[^}\\'"$`<>]+""")
_TEXT_RUN = compile_late(r"[^\\$`]+")


class Document(Struct):
    """A here-document; positions are byte offsets."""

    delimiter: str
    is_quoted: bool
    strips_tabs: bool
    start: int
    """Position of its `<<`."""
    delimiter_end: int
    """End of its delimiter."""
    depth: int
    """Number of substitutions and parentheses around it."""
    body: int = 0
    end: int = 0
    """Start of the closing delimiter's line."""
    end_of_line: int = 0
    """End of that line."""


class Marks(Struct):
    """The scanner's result; positions are byte offsets."""

    quoted_spans: set[tuple[int, int]] = field(default_factory=set)
    """Spans of single-quoted and ANSI-C strings, quotes included."""
    comments: set[int] = field(default_factory=set)
    documents: list[tuple[int, int]] = field(default_factory=list)
    """Bodies of here-documents whose delimiter is quoted."""
    expansions: set[int] = field(default_factory=set)
    """Start of each `$name`, `${`, `$(`, `$((`, backtick, `<(` or `>(`."""
    here_documents: list[Document] = field(default_factory=list)
    """All here-documents, in order."""
    operators: list[int] = field(default_factory=list)
    """Operator characters outside quotes, in order."""


class Lexer:
    """Scans one text; latin-1 decoded bytes, so that positions are byte offsets."""

    def __init__(self, text: str) -> None:
        """Scan nothing yet."""
        self._text = text
        self._end = len(text)
        self._position = 0
        self._pending: list[Document] = []
        self.marks = Marks()

    def scan(self) -> Marks:
        """Return the marks. Raises Unparsable for unbalanced quoting."""
        self._command("", 0)
        if self._pending:
            raise Unparsable("a here-document has no body")
        return self.marks

    def _peek(self, offset: int = 0) -> str:
        position = self._position + offset
        return self._text[position] if position < self._end else ""

    def _command(self, terminator: str, depth: int) -> None:
        """Scan command text up to `terminator` (consumed), or to the end when it is empty."""
        if depth > MAX_DEPTH:
            raise Unparsable("nested too deeply")
        cases = 0
        word_start = True
        while self._position < self._end:
            character = self._text[self._position]
            if word_start and character in "ce":
                cases += self._case_word()
            if character == terminator == ")" and cases > 0:
                # The end of a case pattern, not of the substitution.
                self._operator()
                word_start = True
                continue
            if character == terminator:
                self._operator()
                return
            if character == "#" and word_start:
                self._comment(terminator)
                continue
            word_start = self._step(character, terminator, depth)
        if terminator:
            raise Unparsable(f"the closing {terminator} is missing")

    def _step(self, character: str, terminator: str, depth: int) -> bool:
        """Consume one item of command text; returns whether a word may start after it."""
        if character == "\\":
            return self._escape(terminator)
        if character == "'":
            self._single(self._position)
        elif character == '"':
            self._position += 1
            self._double(depth + 1, in_backtick=terminator == "`")
        elif character in "$`":
            self._expansion(depth, in_double=False, in_backtick=terminator == "`")
        elif character in "<>" and self._peek(1) == "(":
            self.marks.expansions.add(self._position)
            self._position += 2
            self._command(")", depth + 1)
        elif character in _WORD_BREAK:
            self._break(character, depth)
            return True
        elif stretch := _STRETCH.match(self._text, self._position):
            end = stretch.end()
            joining = _JOINING.finditer(self._text, self._position, end)
            self.marks.operators.extend([operator.start() for operator in joining])
            self._position = end
        else:
            self._skip(_PLAIN_RUN)
        return False

    def _escape(self, terminator: str) -> bool:
        """Consume a backslash and what it escapes; returns whether a word may start after it."""
        if terminator == "`" and self._peek(1) in "`\\$":
            raise Unparsable("escapes inside backticks")
        joins = self._peek(1) == "\n"
        self._position += 2
        return joins and self._position >= 3 and self._text[self._position - 3] in _WORD_BREAK

    def _break(self, character: str, depth: int) -> None:
        """Consume what ends a word: an operator with its operands, or blanks."""
        if character in _BLANK:
            self._skip(_BLANKS)
        elif self._text.startswith("<<", self._position):
            self._consume_heredoc(depth)
        else:
            self._operator()
            if character == "(":
                self._command(")", depth + 1)
            elif character == "\n":
                self._bodies(depth)

    def _skip(self, run: re.Pattern[str]) -> None:
        """Skip a run of ordinary characters, or one special character."""
        match = run.match(self._text, self._position)
        self._position = self._position + 1 if match is None else match.end()

    def _operator(self) -> None:
        self.marks.operators.append(self._position)
        self._position += 1

    def _case_word(self) -> int:
        for word, change in (("case", 1), ("esac", -1)):
            end = self._position + len(word)
            if self._text.startswith(word, self._position) and (
                end >= self._end or self._text[end] in _WORD_BREAK
            ):
                return change
        return 0

    def _comment(self, terminator: str) -> None:
        self.marks.comments.add(self._position)
        end = self._text.find("\n", self._position)
        end = self._end if end < 0 else end
        if terminator == "`" and "`" in self._text[self._position : end]:
            raise Unparsable("a comment inside backticks")
        self._position = end

    def _single(self, start: int) -> None:
        closing = self._text.find("'", self._position + 1)
        if closing < 0:
            raise Unparsable("a single quote is not closed")
        self._position = closing + 1
        self.marks.quoted_spans.add((start, self._position))

    def _ansi(self) -> None:
        start = self._position
        self._position += 2
        while self._peek() != "'":
            if not self._peek():
                raise Unparsable("a single quote is not closed")
            self._position += 2 if self._peek() == "\\" else 1
        self._position += 1
        self.marks.quoted_spans.add((start, self._position))

    def _double(self, depth: int, *, in_backtick: bool) -> None:
        if depth > MAX_DEPTH:
            raise Unparsable("nested too deeply")
        while True:
            character = self._peek()
            if not character:
                raise Unparsable("a double quote is not closed")
            if character == '"':
                self._position += 1
                return
            if character == "\\":
                if in_backtick:
                    raise Unparsable("escapes inside backticks")
                self._position += 2
            elif character in "$`":
                if character == "`" and in_backtick:
                    raise Unparsable("a double quote is not closed")
                self._expansion(depth, in_double=True, in_backtick=in_backtick)
            else:
                self._skip(_STRING_RUN)

    def _expansion(self, depth: int, *, in_double: bool, in_backtick: bool) -> None:
        """Consume what starts with a dollar sign or a backtick."""
        start = self._position
        if self._peek() == "`":
            if in_backtick:
                raise Unparsable("backticks inside backticks")
            self.marks.expansions.add(start)
            self._position += 1
            self._command("`", depth + 1)
            return
        following = self._peek(1)
        if following == "'" and not in_double:
            self._ansi()
        elif following == '"' and not in_double:
            raise Unparsable("a translated string")
        elif following in ("(", "{", "["):
            self._consume_brackets(depth, in_double=in_double)
        elif following == "$" and self._peek(2) in ("(", "{", "["):
            # In a string, bash looks for the end of `$(…)` and then expands `$$`.
            raise Unparsable("a process number in front of a bracket")
        elif following in _NAME_START or following in _SPECIAL:
            self.marks.expansions.add(start)
            self._position += 2
        else:
            self._position += 1

    def _consume_brackets(self, depth: int, *, in_double: bool) -> None:
        """Consume `$(…)`, `$((…))`, `${…}` or `$[…]`."""
        start = self._position
        self.marks.expansions.add(start)
        self._position += 2
        if self._text.startswith("$((", start):
            self._position += 1
            self._arithmetic("))", depth + 1)
        elif self._text.startswith("$(", start):
            self._command(")", depth + 1)
        elif self._text.startswith("${", start):
            self._braces(depth + 1, in_double=in_double)
        else:
            self._arithmetic("]", depth + 1)

    def _braces(self, depth: int, *, in_double: bool) -> None:
        if depth > MAX_DEPTH:
            raise Unparsable("nested too deeply")
        while True:
            character = self._peek()
            if not character:
                raise Unparsable("the closing } is missing")
            if character == "}":
                self._position += 1
                return
            if character == "\\":
                self._position += 2
            elif character == "'":
                if in_double:
                    raise Unparsable("quotes inside ${...}")
                self._single(self._position)
            elif character == '"':
                self._position += 1
                self._double(depth + 1, in_backtick=False)
            elif character in "$`":
                self._expansion(depth, in_double=in_double, in_backtick=False)
            elif character in "<>" and self._peek(1) == "(" and not in_double:
                self.marks.expansions.add(self._position)
                self._position += 2
                self._command(")", depth + 1)
            else:
                self._skip(_BRACE_RUN)

    def _arithmetic(self, terminator: str, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise Unparsable("nested too deeply")
        parentheses = 0
        while True:
            character = self._peek()
            if not character:
                raise Unparsable(f"the closing {terminator} is missing")
            if parentheses == 0 and self._text.startswith(terminator, self._position):
                self._position += len(terminator)
                return
            if character in "'\"\\\n":
                raise Unparsable("quotes inside arithmetic")
            if character in "([":
                parentheses += 1
                self._position += 1
            elif character in ")]":
                parentheses -= 1
                if parentheses < 0:
                    raise Unparsable("arithmetic that is not balanced")
                self._position += 1
            elif character in "$`":
                self._expansion(depth, in_double=True, in_backtick=False)
            else:
                self._position += 1

    def _consume_heredoc(self, depth: int) -> None:
        """Consume `<<`, `<<-` with its delimiter, or `<<<`."""
        start = self._position
        self.marks.operators.extend((self._position, self._position + 1))
        self._position += 2
        if self._peek() == "<":
            self._operator()
            return
        strips_tabs = self._peek() == "-"
        self._position += strips_tabs
        while self._peek() in _BLANK and self._peek():
            self._position += 1
        delimiter, is_quoted = "", False
        while self._peek() and self._peek() not in _WORD_BREAK:
            character = self._peek()
            if character in "'\"":
                closing = self._text.find(character, self._position + 1)
                if closing < 0:
                    raise Unparsable("a quote is not closed")
                delimiter += self._text[self._position + 1 : closing]
                self._position = closing + 1
                is_quoted = True
            elif character in "\\$`":
                raise Unparsable("an unusual here-document delimiter")
            else:
                delimiter += character
                self._position += 1
        if not delimiter or "\n" in delimiter:
            raise Unparsable("a here-document without delimiter")
        self._pending.append(
            Document(delimiter, is_quoted, strips_tabs, start, self._position, depth)
        )

    def _bodies(self, depth: int) -> None:
        """Consume the bodies of the here-documents opened on the line that just ended."""
        pending, self._pending = self._pending, []
        for document in pending:
            start = self._position
            end = -1
            while self._position < self._end:
                line_end = self._text.find("\n", self._position)
                line_end = self._end if line_end < 0 else line_end
                line = self._text[self._position : line_end]
                if document.strips_tabs:
                    line = line.lstrip("\t")
                if line == document.delimiter:
                    end = self._position
                    # The newline after the delimiter separates statements.
                    self._position = line_end
                    if self._position < self._end:
                        self._operator()
                    break
                self._position = line_end + 1
            if end < 0:
                raise Unparsable("a here-document is not closed")
            document.body, document.end, document.end_of_line = start, end, line_end
            self.marks.here_documents.append(document)
            if document.is_quoted:
                self.marks.documents.append((start, end))
            else:
                self._document_text(start, end, depth + 1)

    def _document_text(self, start: int, end: int, depth: int) -> None:
        """Scan a body in which the shell expands, without leaving it."""
        inner = Lexer(self._text[:end])
        inner._position = start
        inner.marks = self.marks
        while inner._position < end:
            character = inner._peek()
            if character == "\\":
                inner._position += 2
            elif character in "$`":
                inner._expansion(depth, in_double=True, in_backtick=False)
            else:
                inner._skip(_TEXT_RUN)
