"""Instruction files: `AGENTS.md`, `CLAUDE.md` and rules, with the files they import.

A project's files are untrusted: they cannot import files from outside the project, exceed the size
limits, or import each other endlessly. Everything that is refused is reported.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.prompt import frontmatter
from permissions.base.files.directory_trees import walk
from permissions.base.files.plain_file import read_start
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize
from permissions.paths.path_pattern import selects

MAX_HOPS: Final = 4
"""Maximum depth of nested imports; deeper ones are refused."""
MAX_FILE_BYTES: Final = 100_000
MAX_TOTAL_BYTES: Final = 200_000
MAX_RULE_FILES: Final = 200

MemoryType = Literal["User", "Project", "Local"]
LoadReason = Literal["session_start", "nested_traversal", "path_glob_match", "include"]

_NAMES: Final[tuple[tuple[str, MemoryType], ...]] = (
    ("AGENTS.md", "Project"),
    ("CLAUDE.md", "Project"),
    (".agent/AGENTS.md", "Project"),
    (".claude/CLAUDE.md", "Project"),
    ("CLAUDE.local.md", "Local"),
)
_RULE_DIRECTORIES: Final = (".agent/rules", ".claude/rules")
_IMPORT = compile_late(r"(?<![\w@`/])@((?:\\ |[^\s\\`])+)")
_TAG: Final = compile_late(r"<(?=\s*/?\s*(?:instructions|system-note)\b)", re.IGNORECASE)
_FENCE = compile_late(r"^ {0,3}(`{3,}|~{3,})")
# A run of backticks is closed by one of the same length: few lengths can stay open.
_CODE_SPAN = compile_late(r"(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)")


class InstructionFile(Struct, frozen=True):
    """One file that was read."""

    path: Path
    text: str
    """Without frontmatter and control characters; cut at the size limit with a note."""
    memory_type: MemoryType
    reason: LoadReason
    parent: Path | None = None
    """The file that imported it."""
    globs: tuple[str, ...] = ()
    """Paths that a rule applies to; empty if it always applies."""


class InstructionLocations(Struct, frozen=True):
    """Where to search for instruction files."""

    launch_dir: Path
    project_root: Path
    home: Path
    agent_home: Path
    uid: int
    excludes: tuple[str, ...] = ()
    """Patterns of paths to exclude, absolute or relative to the project (`claudeMdExcludes`)."""
    types: frozenset[MemoryType] = frozenset({"User", "Project", "Local"})
    """The types of files to load."""


class Instructions:
    """The instruction files of one conversation; each is loaded once."""

    def __init__(self, places: InstructionLocations) -> None:
        """Read nothing yet."""
        self._places = places
        self._root = Path(os.path.realpath(places.project_root))
        self._read_paths: set[str] = set()
        self._remaining_bytes = MAX_TOTAL_BYTES
        """Heads count, too."""
        self._is_full = False
        self._rules: list[InstructionFile] = []
        self._start_state: Instructions | None = None
        self.warnings: list[str] = []
        """Warnings for users about refused and cut files; added to while files are loaded."""

    def at_start(self) -> tuple[InstructionFile, ...]:
        """Load the files for the start: the user's own, then by directory, outermost first."""
        files: list[InstructionFile] = []
        places = self._places
        for path in (places.agent_home / "AGENTS.md", places.home / ".claude" / "CLAUDE.md"):
            files += self._load(path, "User", "session_start", within=None)
        for directory in (places.agent_home / "rules", places.home / ".claude" / "rules"):
            files += self._load_rules(directory, "User", within=None)
        for directory in self._directories_to(places.launch_dir):
            files += self._load_directory(directory, "session_start")
        self._start_state = self._copy()
        return tuple(files)

    def for_another_agent(self) -> Instructions:
        """Return the state after the start, for an agent with a new history."""
        return (
            self._start_state._copy()
            if self._start_state is not None
            else Instructions(self._places)
        )

    def _copy(self) -> Instructions:
        copy = Instructions(self._places)
        copy._read_paths, copy._rules, copy._remaining_bytes = (
            set(self._read_paths),
            list(self._rules),
            self._remaining_bytes,
        )
        return copy

    def for_path(self, path: Path) -> tuple[InstructionFile, ...]:
        """Load instructions for a used file: from directories below the launch directory, rules."""
        files: list[InstructionFile] = []
        target = Path(os.path.abspath(path))
        launch_dir = self._places.launch_dir
        if launch_dir in target.parents:
            for directory in reversed(target.parents):
                if launch_dir in directory.parents:
                    files += self._load_directory(directory, "nested_traversal")
        for rule in list(self._rules):
            if self._matches(rule, target):
                self._rules.remove(rule)
                files.append(replace(rule, reason="path_glob_match"))
        return tuple(files)

    # -- where ------------------------------------------------------------------------------

    def _directories_to(self, directory: Path) -> list[Path]:
        start = Path(os.path.abspath(directory))
        return [*reversed(start.parents), start]

    def _load_directory(self, directory: Path, reason: LoadReason) -> list[InstructionFile]:
        try:
            return self._load_from(directory, reason)
        except OSError:  # a link changed while it was followed
            return []

    def _load_from(self, directory: Path, reason: LoadReason) -> list[InstructionFile]:
        if not self._is_trusted_place(directory):
            return []
        real = Path(os.path.realpath(directory))
        within = self._root if real == self._root or self._root in real.parents else real
        files: list[InstructionFile] = []
        for name, memory_type in _NAMES:
            files += self._load(directory / name, memory_type, reason, within=within)
        for name in _RULE_DIRECTORIES:
            files += self._load_rules(directory / name, "Project", within=within)
        return files

    def _is_trusted_place(self, directory: Path) -> bool:
        """Whether a directory is in the project, or above it and only writable by the user.

        Others could write instructions into a shared directory above the project, such as the one
        for temporary files.
        """
        real = Path(os.path.realpath(directory))
        if real == self._root or self._root in real.parents:
            return True
        if real == Path(os.path.realpath(self._places.home)):
            return True
        try:
            status = real.stat()
        except OSError:
            return False
        return status.st_uid in (0, self._places.uid) and not status.st_mode & stat.S_IWOTH

    def _load_rules(
        self, directory: Path, memory_type: MemoryType, *, within: Path | None
    ) -> list[InstructionFile]:
        files: list[InstructionFile] = []
        for path in _markdown_files(directory):
            for file in self._load(path, memory_type, "session_start", within=within):
                if file.globs:
                    self._rules.append(file)
                else:
                    files.append(file)
        return files

    def _matches(self, rule: InstructionFile, path: Path) -> bool:
        try:
            relative = path.relative_to(self._root)
        except ValueError:
            return False
        return selects(rule.globs, str(relative))

    # -- one file ---------------------------------------------------------------------------

    def _load(
        self,
        path: Path,
        memory_type: MemoryType,
        reason: LoadReason,
        *,
        within: Path | None,
        parent: Path | None = None,
        hops: int = 0,
    ) -> list[InstructionFile]:
        """Return a file and its imports, imports first; empty if the file does not exist.

        Nothing outside of `within` is read, links resolved; None for the user's own files.
        """
        if memory_type not in self._places.types or not os.path.isfile(path):
            return []
        real = os.path.realpath(path)
        if real in self._read_paths or self._is_excluded(path):
            return []
        if within is not None and within not in Path(real).parents:
            self.warnings.append(f"{path} leads outside the project ({real}): not read.")
            return []
        if self._remaining_bytes == 0:
            # Reading and following imports takes time, too.
            if not self._is_full:
                self.warnings.append(f"{path} and what follows is not read: there is no room left.")
            self._is_full = True
            return []
        text = self._read(path)
        if text is None:
            return []
        self._read_paths.add(real)
        head, body = frontmatter.split(text)
        globs = frontmatter.texts(head.get("paths"))
        file = InstructionFile(path, self._cut(path, body), memory_type, reason, parent, globs)
        self._remaining_bytes = max(0, self._remaining_bytes - len(text.encode()))
        imports: list[InstructionFile] = []
        for target in imports_of(body):
            imports += self._import(file, target, within=within, hops=hops)
        return [*imports, file]

    def _import(
        self, file: InstructionFile, target: str, *, within: Path | None, hops: int
    ) -> list[InstructionFile]:
        path = Path(target)
        if target.startswith("~/"):
            path = self._places.home / target[2:]
        path = Path(os.path.normpath(file.path.parent / path))
        if not os.path.isfile(path):
            return []  # a mention such as @someone is not an import
        if hops + 1 > MAX_HOPS:
            self.warnings.append(f"{file.path} imports {target} more than {MAX_HOPS} hops deep.")
            return []
        return self._load(
            path, file.memory_type, "include", within=within, parent=file.path, hops=hops + 1
        )

    def _is_excluded(self, path: Path) -> bool:
        excludes = self._places.excludes
        is_inside = self._root in path.parents
        return selects(excludes, str(path).lstrip("/")) or (
            is_inside and selects(excludes, str(path.relative_to(self._root)))
        )

    def _read(self, path: Path) -> str | None:
        try:
            data = read_start(path, MAX_FILE_BYTES + 1)
        except OSError as error:
            self.warnings.append(f"{path} cannot be read: {error.strerror}.")
            return None
        if b"\0" in data:
            self.warnings.append(f"{path} is not text: not read.")
            return None
        return data.decode("utf-8", errors="replace")

    def _cut(self, path: Path, text: str) -> str:
        text = sanitize(text).strip()
        limit = min(MAX_FILE_BYTES, self._remaining_bytes)
        data = text.encode()
        if len(data) > limit:
            self.warnings.append(f"{path} is longer than the {limit:,} bytes left for it: cut.")
            beginning = data[:limit].decode(errors="ignore")
            text = f"{beginning}\n[cut here: the file is longer than there is room for]"
        return text


def imports_of(text: str) -> tuple[str, ...]:
    """Return the targets of `@path` imports in order, without those in code."""
    files = (match[1].replace("\\ ", " ") for match in _IMPORT.finditer(_without_code(text)))
    return tuple(dict.fromkeys(target.rstrip(".,;:!?)") for target in files if target))


def _without_code(text: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if fence:
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence):
                fence = ""
            continue
        if match:
            fence = match[1]
            continue
        lines.append(line)
    return _CODE_SPAN.sub("", "\n".join(lines))


def _markdown_files(directory: Path) -> Iterator[Path]:
    count = 0
    for where, names, files in walk(directory):
        names.sort()
        for name in sorted(files):
            if name.endswith(".md"):
                count += 1
                if count > MAX_RULE_FILES:
                    return
                yield Path(where, name)


def render(files: Sequence[InstructionFile]) -> str:
    """Return files as text for the model, each with its path, in the given order.

    A file of the project can neither end its element nor begin one of the user's.
    """
    parts = []
    for file in files:
        if not file.text:
            continue
        kind = {"User": "the user's own", "Project": "of the project", "Local": "local"}
        path = sanitize(str(file.path)).replace("\n", " ").replace('"', "'")
        tag = f'<instructions path="{path}" scope="{kind[file.memory_type]}">'
        parts.append(f"{tag}\n{_TAG.sub('‹', file.text)}\n</instructions>")
    return "\n\n".join(parts)
