"""Highlights code and finds files for links, in a thread.

Code is first colored line by line, which is wrong inside strings that span lines; therefore a
finished block is lexed again as a whole. That, and looking for files that a text names, is done in
a thread, after which the text is drawn again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from themes.theme import Role
from tui.text.file_links import FindFile
from tui.text.styled_rows import TEXT, Ink, Run

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_Result = TypeVar("_Result")
HighlightedLine = tuple[Run, ...]

BlockKey = tuple[str, str]
"""Language and text of a block of code; or `_FILE` and a path that may exist."""
_FILE: Final = "\0file"
_CACHED_FILES: Final = 10_000

_MAX_CODE_CHARS: Final = 200_000
_MAX_LINE_CHARS: Final = 2_000
_LINEWISE_LINES: Final = 200
"""Longer blocks stay plain until the thread is done: coloring them would delay a frame."""
_CACHED_BLOCKS: Final = 256

_ALIASES: Final = {"sh": "bash", "shell": "bash", "console": "bash", "py": "python", "": "text"}


class Highlighter:
    """Highlights code; one per app. Without an executor everything is done at once, for tests."""

    def __init__(
        self,
        executor: Executor | None = None,
        on_ready: Callable[[], None] = lambda: None,
        find_file: FindFile | None = None,
    ) -> None:
        """`executor` lexes blocks and finds files; `on_ready` is called after each of them."""
        self._executor = executor
        self._on_ready = on_ready
        self._find_file = find_file
        self._files: OrderedDict[BlockKey, str | None] = OrderedDict()
        self._blocks: OrderedDict[BlockKey, tuple[HighlightedLine, ...]] = OrderedDict()
        self._running: set[BlockKey] = set()
        self._unready: set[BlockKey] = set()
        self.is_on = True
        """Whether code is highlighted; existing rows do not change."""
        self.generation = 0
        """Increased whenever a result arrives, which may change rows if they are made again."""

    def block(self, code: str, language: str) -> tuple[HighlightedLine, ...]:
        """Return the lines of a block, lexed line by line or plain until the thread is done."""
        language = self._language(language)
        key = (language, code)
        lines = self._blocks.get(key)
        if lines is not None:
            self._blocks.move_to_end(key)
            return lines
        if language == "text" or len(code) > _MAX_CODE_CHARS:
            return plain_lines(code)
        if self._executor is None:
            return self._store(key, lex_block(code, language))
        if not self._start(key, partial(lex_block, code, language), partial(self._store, key)):
            return plain_lines(code)
        if code.count("\n") > _LINEWISE_LINES:
            return plain_lines(code)
        return tuple(self.line(line, language) for line in code.split("\n"))

    def file_address(self, path: str) -> str | None:
        """Return the address of a file that a text names, as `file_links.find_file` does.

        None if there is no such file, or the search is not finished.
        """
        if self._find_file is None:
            return None
        key = (_FILE, path)
        if key in self._files:
            self._files.move_to_end(key)
            return self._files[key]
        if self._executor is None:
            return self._find_file(path)
        self._start(key, partial(self._find_file, path), partial(self._store_file, key))
        return None

    def forget_missing(self) -> None:
        """Forget that files were missing, so that they are searched again."""
        for key in [key for key, address in self._files.items() if address is None]:
            del self._files[key]

    def take_unready(self) -> frozenset[BlockKey]:
        """Return the keys requested since the last call whose results are not ready."""
        unready, self._unready = frozenset(self._unready), set()
        return unready

    def has_news(self, unready: frozenset[BlockKey]) -> bool:
        """Return whether one of these results is ready by now."""
        return any(key not in self._running for key in unready)

    def line(self, text: str, language: str) -> HighlightedLine:
        """Return one line, lexed by itself; takes about 50 µs."""
        language = self._language(language)
        if language == "text" or len(text) > _MAX_LINE_CHARS:
            return ((text, TEXT),) if text else ()
        return lex_block(text, language)[0]

    def _language(self, language: str) -> str:
        return _canonical(language) if self.is_on else "text"

    def _start(
        self, key: BlockKey, work: Callable[[], _Result], store: Callable[[_Result], object]
    ) -> bool:
        """Start work in the thread unless it is running already; False if the thread has ended."""
        if key not in self._running:
            self._running.add(key)
            try:
                future = asyncio.get_running_loop().run_in_executor(self._executor, work)
            except RuntimeError:
                # The app is closing and has shut down the thread.
                self._running.discard(key)
                return False
            future.add_done_callback(lambda result: self._finish(key, result, store))
        self._unready.add(key)
        return True

    def _finish(
        self, key: BlockKey, result: asyncio.Future[Any], store: Callable[[Any], object]
    ) -> None:
        self._running.discard(key)
        if result.cancelled() or result.exception() is not None:
            return
        store(result.result())
        self.generation += 1
        self._on_ready()

    def _store_file(self, key: BlockKey, address: str | None) -> None:
        self._files[key] = address
        while len(self._files) > _CACHED_FILES:
            self._files.popitem(last=False)

    def _store(
        self, key: BlockKey, lines: tuple[HighlightedLine, ...]
    ) -> tuple[HighlightedLine, ...]:
        self._blocks[key] = lines
        while len(self._blocks) > _CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return lines


def plain_lines(code: str) -> tuple[HighlightedLine, ...]:
    """Return the lines of a text without colors."""
    return tuple(((line, TEXT),) if line else () for line in code.split("\n"))


def language_of(path: str) -> str:
    """Return the language of a file by its name; "text" if unknown."""
    name = path.rsplit("/", 1)[-1]
    suffix = name.rsplit(".", 1)[-1].lower() if "." in name else name.lower()
    return _LANGUAGES.get(suffix, "text")


def lex_block(code: str, language: str) -> tuple[HighlightedLine, ...]:
    """Return the highlighted lines of a text; their number is that of the text."""
    lexer = _lexer(language)
    if lexer is None:
        return plain_lines(code)
    lines: list[list[Run]] = [[]]
    for token_type, value in lexer.get_tokens(code):
        ink = _ink_of(token_type)
        first, *others = value.split("\n")
        if first:
            lines[-1].append((first, ink))
        for other in others:
            lines.append([(other, ink)] if other else [])
    line_count = code.count("\n") + 1
    # The lexer appends a line break.
    del lines[line_count:]
    return tuple(tuple(line) for line in lines)


def _canonical(language: str) -> str:
    name = language.strip().split(" ")[0].split(",")[0].strip("{}.").lower()
    return _ALIASES.get(name, name)


_LEXERS: dict[str, Lexer | None] = {}


def _lexer(language: str) -> Lexer | None:
    if language not in _LEXERS:
        # Imported with the first code block: takes some 40 ms and is not needed for the prompt.
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound

        try:
            _LEXERS[language] = get_lexer_by_name(language, stripnl=False, ensurenl=True)
        except ClassNotFound:
            _LEXERS[language] = None
    return _LEXERS[language]


_INKS: Final[tuple[tuple[str, Ink], ...]] = (
    ("Token.Comment", Ink(Role.SYNTAX_COMMENT, italic=True)),
    ("Token.Keyword.Type", Ink(Role.SYNTAX_TYPE)),
    ("Token.Keyword", Ink(Role.SYNTAX_KEYWORD)),
    ("Token.Literal.String", Ink(Role.SYNTAX_STRING)),
    ("Token.Literal.Number", Ink(Role.SYNTAX_NUMBER)),
    ("Token.Name.Function", Ink(Role.SYNTAX_FUNCTION)),
    ("Token.Name.Class", Ink(Role.SYNTAX_TYPE)),
    ("Token.Name.Decorator", Ink(Role.SYNTAX_FUNCTION)),
    ("Token.Name.Builtin", Ink(Role.SYNTAX_FUNCTION)),
    ("Token.Name.Exception", Ink(Role.SYNTAX_TYPE)),
    ("Token.Name.Namespace", Ink(Role.SYNTAX_TYPE)),
    ("Token.Name.Tag", Ink(Role.SYNTAX_KEYWORD)),
    ("Token.Name.Attribute", Ink(Role.SYNTAX_FUNCTION)),
    ("Token.Operator.Word", Ink(Role.SYNTAX_KEYWORD)),
    ("Token.Operator", Ink(Role.SYNTAX_OPERATOR)),
    ("Token.Generic.Inserted", Ink(Role.DIFF_ADDED_SIGN)),
    ("Token.Generic.Deleted", Ink(Role.DIFF_REMOVED_SIGN)),
    ("Token.Generic.Heading", Ink(Role.HEADING, bold=True)),
)
_ink_cache: dict[object, Ink] = {}


def _ink_of(token_type: object) -> Ink:
    cached_ink = _ink_cache.get(token_type)
    if cached_ink is None:
        name = str(token_type)
        cached_ink = next(
            (ink for prefix, ink in _INKS if name == prefix or name.startswith(prefix + ".")), TEXT
        )
        _ink_cache[token_type] = cached_ink
    return cached_ink


_LANGUAGES: Final = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "mjs": "javascript",
    "jsx": "jsx",
    "ts": "typescript",
    "tsx": "tsx",
    "rs": "rust",
    "go": "go",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "hpp": "cpp",
    "java": "java",
    "kt": "kotlin",
    "rb": "ruby",
    "php": "php",
    "sh": "bash",
    "bash": "bash",
    "zsh": "bash",
    "json": "json",
    "jsonl": "json",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
    "md": "markdown",
    "html": "html",
    "css": "css",
    "scss": "scss",
    "sql": "sql",
    "xml": "xml",
    "lua": "lua",
    "swift": "swift",
    "makefile": "make",
    "dockerfile": "docker",
    "tcss": "css",
    "ini": "ini",
    "cfg": "ini",
    "diff": "diff",
    "patch": "diff",
}
