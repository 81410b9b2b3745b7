"""What is kept of command files from one start to the next, and when it does not count."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.commands.sources import frontmatter_cache as head_cache
from agent.commands.sources.directories import CommandLocations
from agent.commands.sources.discover import CommandFinder, DiscoveredCommands
from agent.commands.sources.frontmatter_cache import FILE, FrontmatterCache
from agent.settings.project_items import items_of_directories
from agent.settings.trust import TrustState


@pytest.fixture(autouse=True)
def files_settle_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_cache, "SETTLED_NS", -60_000_000_000)


class Starts:
    """Starts in one home, each with a finder of its own."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        self.places = CommandLocations(self.home, self.home / ".agent", self.project)
        self.file = self.home / ".agent" / FILE
        self.trust = TrustState(self.project, is_trusted=False)

    def write(self, name: str, text: str, *, below: Path | None = None) -> Path:
        path = (below or self.home / ".agent") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def wait_for_the_clock(self) -> None:
        """Return when a file that is changed now gets another time than any so far."""
        probe = self.home / "probe"
        probe.parent.mkdir(parents=True, exist_ok=True)
        probe.touch()
        before = probe.stat().st_ctime_ns
        while probe.stat().st_ctime_ns == before:
            probe.touch()

    def start(self) -> DiscoveredCommands:
        finder = CommandFinder(self.places, lambda: self.trust, FrontmatterCache(self.file))
        found = finder.find()
        finder.write_cache()
        return found

    def uncached(self) -> DiscoveredCommands:
        return CommandFinder(self.places, lambda: self.trust).find()

    def descriptions(self) -> list[str]:
        return [command.meta.description for command in self.start().commands]

    def entries(self) -> dict[str, list[object]]:
        files = json.loads(self.file.read_text())["files"]
        assert isinstance(files, dict)
        return files

    def change_entries(self, change: Callable[[list[object]], None]) -> None:
        data = json.loads(self.file.read_text())
        for entry in data["files"].values():
            change(entry)
        self.file.write_text(json.dumps(data))


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path)


def _said(found: DiscoveredCommands) -> tuple[object, ...]:
    return [(c.meta, c.for_model) for c in found.commands], found.waiting, found.problems


def test_a_second_start_takes_what_the_first_one_kept(starts: Starts) -> None:
    starts.write("commands/a.md", "---\ndescription: read\n---\nx")
    assert starts.descriptions() == ["read"]

    def change(entry: list[object]) -> None:
        entry[5] = "kept"

    starts.change_entries(change)
    assert starts.descriptions() == ["kept"]


@pytest.mark.parametrize("same_times", [False, True])
def test_a_changed_file_is_read_anew(starts: Starts, same_times: bool) -> None:
    path = starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    before = path.stat()
    starts.start()
    starts.wait_for_the_clock()
    path.write_text("---\ndescription: two\n---\nx")
    if same_times:
        # Of the same size, too: only the time of the change tells.
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert starts.descriptions() == ["two"]
    assert starts.descriptions() == ["two"]


def test_a_file_put_in_the_place_of_another_is_read_anew(starts: Starts) -> None:
    path = starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.start()
    other = starts.write("other", "---\ndescription: two\n---\nx")
    os.replace(other, path)
    assert starts.descriptions() == ["two"]


def test_a_file_that_just_changed_is_not_kept(
    starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_cache, "SETTLED_NS", 3_600_000_000_000)
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.start()
    assert not starts.file.exists()


def test_files_that_are_gone_are_forgotten(starts: Starts) -> None:
    path = starts.write("commands/a.md", "a")
    starts.write("skills/s/SKILL.md", "s")
    starts.start()
    path.unlink()
    starts.start()
    assert [Path(name).name for name in starts.entries()] == ["SKILL.md"]


def test_problems_are_reported_again_at_each_start(starts: Starts) -> None:
    starts.write("commands/a.md", "---\ndescription: Fix it model: opus\neffort: enormous\n---\nx")
    first, second = starts.start(), starts.start()
    assert len(first.problems) == 2
    assert first.problems == second.problems


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"files": []}', "[" * 100_000, '{"readers": 1, "files": {}}', "\x00"],
)
def test_a_broken_cache_is_as_none_and_mended(starts: Starts, text: str) -> None:
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.write(FILE, text)
    assert starts.descriptions() == ["one"]
    assert len(starts.entries()) == 1


def _break_texts(entry: list[object]) -> None:
    entry[5] = 7


def _break_problems(entry: list[object]) -> None:
    entry[10] = [None]


def _break_flags(entry: list[object]) -> None:
    entry[8] = 1


def _break_length(entry: list[object]) -> None:
    entry.pop()


def _talk_to_the_terminal(entry: list[object]) -> None:
    entry[5] = "\x1b]0;owned\x07"


def _be_of_the_other_kind(entry: list[object]) -> None:
    entry[4:6] = [True, "of a skill"]


@pytest.mark.parametrize(
    "change",
    [
        _break_texts,
        _break_problems,
        _break_flags,
        _break_length,
        _talk_to_the_terminal,
        _be_of_the_other_kind,
        list.clear,
    ],
)
def test_a_broken_entry_does_not_count(
    starts: Starts, change: Callable[[list[object]], None]
) -> None:
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.start()
    starts.change_entries(change)
    assert starts.descriptions() == ["one"]


def _writable_by_others(file: Path) -> None:
    file.chmod(0o666)


def _of_another_version(file: Path) -> None:
    data = json.loads(file.read_text())
    data["readers"][0][1] += 1
    file.write_text(json.dumps(data))


def _a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "make",
    [_writable_by_others, _of_another_version, _a_directory, _a_pipe],
    ids=lambda f: f.__name__,
)
def test_a_foreign_cache_does_not_count(starts: Starts, make: Callable[[Path], None]) -> None:
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.start()

    def change(entry: list[object]) -> None:
        entry[5] = "another's"

    starts.change_entries(change)
    make(starts.file)
    assert starts.descriptions() == ["one"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_cache_of_someone_else_does_not_count(starts: Starts) -> None:
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.start()

    def change(entry: list[object]) -> None:
        entry[5] = "another's"

    starts.change_entries(change)
    os.chown(starts.file, 12_345, -1)
    assert starts.descriptions() == ["one"]


def test_the_cache_is_private_and_knows_nothing_of_projects(starts: Starts) -> None:
    starts.write("commands/mine.md", "mine")
    starts.write(".claude/commands/theirs.md", "theirs", below=starts.project)
    starts.write(".claude/commands/empty.md", "", below=starts.project)
    items = tuple(items_of_directories(starts.project))
    starts.trust = TrustState(starts.project, True, items, frozenset(i.digest for i in items))
    assert starts.descriptions() == ["mine", "", "theirs"]
    assert [Path(name).name for name in starts.entries()] == ["mine.md"]
    assert starts.file.stat().st_mode & 0o777 == 0o600


def test_a_cache_that_a_project_brings_is_not_read(starts: Starts) -> None:
    starts.write(".agent/commands/p.md", "---\ndescription: one\n---\nx", below=starts.project)
    starts.write("commands/mine.md", "mine")
    starts.start()
    entry = [*_signature(starts.project / ".agent/commands/p.md"), False, "x", "", "", True, True]
    data = json.loads(starts.file.read_text())
    path = str(starts.project / ".agent/commands/p.md")
    forged = json.dumps({**data, "files": {path: [*entry, []]}})
    starts.write(FILE, forged, below=starts.project / ".agent")
    starts.file.write_text(forged)
    found = starts.start()
    assert [c.meta.name for c in found.commands] == ["mine"]
    assert found.waiting == ("p",)


def _signature(path: Path) -> Iterator[int]:
    yield from head_cache.signature_of(path.stat())


def test_a_home_that_cannot_be_written_is_no_error(starts: Starts) -> None:
    starts.write("commands/a.md", "---\ndescription: one\n---\nx")
    starts.write("cache", "in the way")
    assert starts.descriptions() == ["one"]
    assert starts.descriptions() == ["one"]


LINES = st.sampled_from(
    ["description: D", "description: Fix: it", "argument-hint: [a] [b]", "effort: enormous",
     "user-invocable: false", "disable-model-invocation: yes", "when_to_use: |", "  more", "[",
     "arguments: [who, what]", "description: 3", "description: [x]", "hooks: {a: 1}",
     "description: \x1b[31mred", "description: 🙂\u200d", "when_to_use: später"]
)  # fmt: skip
CONTENT = st.tuples(st.lists(LINES, max_size=4), st.text(max_size=30)).map(
    lambda pair: "---\n{}\n---\n{}".format("\n".join(pair[0]), pair[1])
)
NAMES = st.sampled_from(
    ["commands/a.md", "commands/b c.md", "commands/sub/d.md", "skills/é/SKILL.md"]
)  # fmt: skip


@given(st.lists(st.dictionaries(NAMES, CONTENT | st.none(), max_size=4), min_size=1, max_size=3))
def test_with_and_without_a_cache_is_the_same(rounds: list[dict[str, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        starts = Starts(Path(directory))
        for changes in rounds:
            starts.wait_for_the_clock()
            for name, text in changes.items():
                path = starts.home / ".agent" / name
                if text is None:
                    path.unlink(missing_ok=True)
                else:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(text.encode("utf-8", "replace"))
            for _ in range(2):
                assert _said(starts.start()) == _said(starts.uncached())
