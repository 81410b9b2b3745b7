"""A small stand-in for ripgrep, for machines whose wheel of it has no program.

Runs as a process of its own (`python -m agent.tools.search.search_fallback`), takes the options of
rg that `agent.tools.search.rg` uses and prints in rg's form, so that everything above is the same
for both.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct
from pathspec import GitIgnoreSpec

from agent.tools.search.glob_match import GlobMatcher
from permissions.base.files.plain_file import read_plain
from permissions.base.files.regular_file import NotRegular, open_regular

MAX_FILE_BYTES: Final = 50 * 1024 * 1024
_BINARY_SAMPLE: Final = 65_536

_TYPES: Final = {
    "c": ("*.c", "*.h"),
    "cpp": ("*.cpp", "*.cc", "*.cxx", "*.hpp", "*.hh", "*.h"),
    "css": ("*.css", "*.scss"),
    "go": ("*.go",),
    "html": ("*.html", "*.htm"),
    "java": ("*.java",),
    "js": ("*.js", "*.jsx", "*.mjs", "*.cjs"),
    "json": ("*.json",),
    "md": ("*.md", "*.markdown"),
    "php": ("*.php",),
    "py": ("*.py", "*.pyi"),
    "ruby": ("*.rb",),
    "rust": ("*.rs",),
    "sh": ("*.sh", "*.bash", "*.zsh"),
    "toml": ("*.toml",),
    "ts": ("*.ts", "*.tsx", "*.mts", "*.cts"),
    "yaml": ("*.yaml", "*.yml"),
}


class _Ignore(Struct, frozen=True):
    """The rules of one folder's ignore file."""

    folder: Path
    spec: GitIgnoreSpec

    def verdict(self, path: Path, *, is_folder: bool) -> bool | None:
        """Return whether the file ignores the path; None when it does not say."""
        name = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        return self.spec.check_file(name).include


def main(arguments: Sequence[str], out: BinaryIO) -> int:
    """Search as rg would and return its exit status: 0 found, 1 nothing found, 2 an error."""
    options = _parser().parse_args(arguments)
    positional = list(options.positional)
    pattern = None if options.files else positional.pop(0)
    try:
        expression = _compile(pattern, options) if pattern is not None else None
    except re.error as error:
        print(f"regex parse error: {error}", file=sys.stderr)
        return 2
    if options.type is not None and options.type not in _TYPES:
        print(f"unrecognized file type: {options.type}", file=sys.stderr)
        return 2
    if positional[0] == "-":
        assert expression is not None
        return _filter(sys.stdin.buffer, expression, out)
    found = False
    for path in _files(Path(positional[0]), options):
        if expression is None:
            out.write(b"./" + os.fsencode(path) + b"\0")
            found = True
        else:
            found |= _search(path, expression, options, out)
        out.flush()
    return 0 if found else 1


def _filter(source: BinaryIO, expression: re.Pattern[str], out: BinaryIO) -> int:
    status = 1
    for line in source:
        if expression.search(line.decode("utf-8", "surrogateescape").rstrip("\n")):
            out.write(line)
            status = 0
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for flag in ("files", "files-with-matches", "count-matches", "no-ignore", "ignore-case"):
        parser.add_argument(f"--{flag}", action="store_true")
    for flag in (
        "null",
        "hidden",
        "no-line-number",
        "with-filename",
        "no-heading",
        "line-number",
        "no-messages",
    ):
        parser.add_argument(f"--{flag}", action="store_true")
    for flag in ("multiline", "multiline-dotall", "max-columns-preview", "no-require-git"):
        parser.add_argument(f"--{flag}", action="store_true")
    for flag in ("color", "sort", "type"):
        parser.add_argument(f"--{flag}")
    for flag in ("after-context", "before-context", "context", "max-columns"):
        parser.add_argument(f"--{flag}", type=int, default=0)
    parser.add_argument("--glob", action="append", default=[])
    parser.add_argument("positional", nargs="+")
    return parser


def _compile(pattern: str, options: argparse.Namespace) -> re.Pattern[str]:
    flags = re.MULTILINE
    if options.ignore_case:
        flags |= re.IGNORECASE
    if options.multiline_dotall:
        flags |= re.DOTALL
    return re.compile(pattern, flags)


def _files(start: Path, options: argparse.Namespace) -> Iterator[Path]:
    """Yield the files to search, relative to the current directory and sorted by path."""
    if not start.is_dir():
        yield Path(os.path.normpath(start))
        return
    wanted = [GlobMatcher(glob) for glob in options.glob if not glob.startswith("!")]
    unwanted = [GlobMatcher(glob[1:]) for glob in options.glob if glob.startswith("!")]
    types = [GlobMatcher(glob) for glob in _TYPES.get(options.type, ())]

    def is_chosen(path: Path, ignores: tuple[_Ignore, ...]) -> bool:
        name = path.as_posix()
        if any(matcher.matches(name) for matcher in unwanted):
            return False
        if types and not any(matcher.matches(path.name) for matcher in types):
            return False
        if wanted:
            # As in rg, a glob that names a file brings it back from an ignore file.
            return any(matcher.matches(name) for matcher in wanted)
        return not _is_ignored(path, ignores, is_folder=False)

    def walk(folder: Path, ignores: tuple[_Ignore, ...]) -> Iterator[Path]:
        if not options.no_ignore:
            ignores = (*_ignore_files(folder), *ignores)
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            path = folder / entry.name
            if entry.is_dir(follow_symlinks=False):
                name = path.as_posix() + "/x"
                is_out = any(matcher.matches(name) for matcher in unwanted)
                if not is_out and not _is_ignored(path, ignores, is_folder=True):
                    yield from walk(path, ignores)
            elif entry.is_file(follow_symlinks=False) and is_chosen(path, ignores):
                yield path

    yield from walk(Path(), ())


def _ignore_files(folder: Path) -> Iterator[_Ignore]:
    for name in (".ignore", ".gitignore"):
        try:
            lines = read_plain(folder / name).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        yield _Ignore(folder, GitIgnoreSpec.from_lines(lines))


def _is_ignored(path: Path, ignores: tuple[_Ignore, ...], *, is_folder: bool) -> bool:
    for ignore in ignores:
        verdict = ignore.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _search(
    path: Path, expression: re.Pattern[str], options: argparse.Namespace, out: BinaryIO
) -> bool:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_FILE_BYTES)
    except (OSError, NotRegular):
        return False
    if b"\0" in data[:_BINARY_SAMPLE]:
        return False
    text = data.decode("utf-8", "surrogateescape")
    spans = list(_matches(text, expression, is_multiline=options.multiline))
    if not spans:
        return False
    name = b"./" + os.fsencode(path) + b"\0"
    if options.files_with_matches:
        out.write(name)
    elif options.count_matches:
        out.write(name + b"%d\n" % len(spans))
    else:
        _print_lines(text, spans, name, options, out)
    return True


def _matches(
    text: str, expression: re.Pattern[str], *, is_multiline: bool
) -> Iterator[tuple[int, int]]:
    if is_multiline:
        yield from (match.span() for match in expression.finditer(text))
        return
    start = 0
    for line in text.split("\n"):
        for match in expression.finditer(line):
            yield start + match.start(), start + match.end()
        start += len(line) + 1


def _print_lines(
    text: str,
    spans: Sequence[tuple[int, int]],
    name: bytes,
    options: argparse.Namespace,
    out: BinaryIO,
) -> None:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    matched: set[int] = set()
    for start, end in spans:
        first = bisect_right(starts, start) - 1
        matched.update(range(first, bisect_right(starts, max(start, end - 1))))
    before = options.before_context or options.context
    after = options.after_context or options.context
    shown = sorted(
        {
            number
            for hit in matched
            for number in range(max(0, hit - before), min(len(lines), hit + after + 1))
        }
    )
    previous = None
    for number in shown:
        if previous is not None and number > previous + 1 and (before or after):
            out.write(b"--\n")
        previous = number
        line = lines[number]
        if options.max_columns and len(line) > options.max_columns:
            line = line[: options.max_columns] + " [... omitted end of long line]"
        mark = b":" if number in matched else b"-"
        body = line.encode("utf-8", "surrogateescape")
        out.write(name + b"%d" % (number + 1) + mark + body + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdout.buffer))
