"""Turns paths in text into links to existing files.

The text alone determines what looks like a path; `tui.text.highlight` checks in a thread whether
the file exists.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from tui.text.styled_rows import Ink, Run

FindFile = Callable[[str], str | None]
"""Returns the address of the file that a path refers to; None if there is none."""

_MAX_CHARS: Final = 300
_PATH: Final = compile_late(
    r"(?<![\w/.~@:+-])(?P<path>~?/?(?:[\w.+@-]+/)*[\w.+@-]*\w/?)(?:(?::|#L)(?P<line>\d{1,7}))?"
)
_SUFFIX: Final = compile_late(r"\.[A-Za-z]\w{0,9}$")


def find_file(path: str, directory: str, home: str) -> str | None:
    """Return the `file://` address of a file; None if it does not exist. May block.

    `path` may begin with `~/` and end with `:LINE`, which becomes the fragment, as in ripgrep's
    links.
    """
    name, _, line = path.partition(":")
    place = home + name[1:] if name.startswith("~/") else name
    target = os.path.normpath(os.path.join(directory, place))
    try:
        if not os.path.exists(target):
            return None
        return Path(target).as_uri() + (f"#{line}" if int(line or 1) > 1 else "")
    except (OSError, ValueError):
        return None


def as_path(target: str) -> str:
    """Return the target of a link as a path with an optional `:LINE`; "" if it is not a path."""
    from urllib.parse import unquote  # with the first link, not with the first frame

    match = _PATH.fullmatch(unquote(target))
    if match is None or len(target) > _MAX_CHARS:
        return ""
    return f"{match['path']}:{match['line']}" if match["line"] else match["path"]


def with_files(text: str, ink: Ink, address: FindFile, *, is_code: bool = False) -> Iterable[Run]:
    """Yield a text with its paths as links; with `is_code` a single word may be a path, too."""
    position = 0
    for match in _PATH.finditer(text):
        path, line = match["path"], match["line"]
        is_path = "/" in path or _SUFFIX.search(path) or (is_code and match[0] == text)
        if not is_path or len(path) > _MAX_CHARS:
            continue
        link = address(f"{path}:{line}" if line else path)
        if link is None:
            continue
        if match.start() > position:
            yield text[position : match.start()], ink
        yield match[0], replace(ink, link=link)
        position = match.end()
    if position < len(text):
        yield text[position:], ink
