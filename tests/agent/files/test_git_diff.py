"""A unified diff cut into files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from agent.files.git_diff import FileDiff, parse_diff, read_diff
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined

DIFF = """diff --git a.py a.py
index 1..2 100644
--- a.py
+++ a.py
@@ -1,2 +1,2 @@
-old
+new
 same
diff --git gone.py gone.py
deleted file mode 100644
--- gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_files_with_counts() -> None:
    assert parse_diff(DIFF) == (
        FileDiff("a.py", 1, 1, ("@@ -1,2 +1,2 @@", "-old", "+new", " same")),
        FileDiff("gone.py", 0, 1, ("@@ -1 +0,0 @@", "-x"), "deleted"),
    )
    assert parse_diff("") == ()


def programs(root: Path) -> ReadingPrograms:
    return ReadingPrograms(os.environ, root, launch_unconfined)


def repository(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "a b.py").write_text("old\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True)
    (tmp_path / "a b.py").write_text("new\n")


async def test_a_repository_with_a_change(tmp_path: Path) -> None:
    repository(tmp_path)
    found = await read_diff(tmp_path, programs(tmp_path))
    assert found is not None
    assert [(file.path, file.added_count, file.removed_count) for file in found] == [
        ("a b.py", 1, 1)
    ]
    assert await read_diff(tmp_path.parent, programs(tmp_path)) is None


async def test_new_files_and_odd_names_are_in_it(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / 'q"uo\nte.py').write_text("a\nb\n")
    (tmp_path / "bin").write_bytes(b"\0")
    found = await read_diff(tmp_path, programs(tmp_path))
    assert found is not None
    assert {(file.path, file.added_count) for file in found} == {
        ("a b.py", 1), ('q"uo\nte.py', 2), ("bin", 0),
    }  # fmt: skip


def staged(directory: Path) -> None:
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(directory), *arguments], check=True)


async def test_a_repository_without_a_commit_has_changes(tmp_path: Path) -> None:
    (tmp_path / 'a"b').write_text("x\n")
    staged(tmp_path)
    found = await read_diff(tmp_path, programs(tmp_path))
    assert found is not None
    assert [(file.path, file.added_count) for file in found] == [('a"b', 1)]


def odd_changes(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "moved é.py").write_text("x = 1\n" * 30)
    (tmp_path / "data.bin").write_bytes(bytes(range(256)))
    (tmp_path / "run.sh").write_text("true\n")
    for arguments in (["add", "."], ["commit", "-qm", "y"], ["mv", "moved é.py", "to\there.py"]):
        subprocess.run([*git, *arguments], check=True)
    (tmp_path / "data.bin").write_bytes(bytes(range(255, -1, -1)))
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "nested").mkdir()
    subprocess.run(["git", "init", "-q", str(tmp_path / "nested")], check=True)
    (tmp_path / "large.txt").write_text("x" * 600_000)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("a\n")


async def test_what_has_no_lines_says_what_happened(tmp_path: Path) -> None:
    repository(tmp_path)
    odd_changes(tmp_path)
    found = await read_diff(tmp_path, programs(tmp_path))
    assert found is not None
    assert {file.path: (file.what, len(file.lines)) for file in found} == {
        "data.bin": ("binary", 0),
        "to\there.py": ("renamed from moved é.py", 0),
        "run.sh": ("mode 100644 → 100755", 0),
        "link": ("new link", 2),
        "nested/": ("a repository of its own", 0),
        "large.txt": ("new, 600 kB", 0),
        "empty.txt": ("new", 0),
        "caf\udce9.txt": ("new", 2),
    }
    link = next(file for file in found if file.path == "link")
    assert link.lines[1] == "+/etc/passwd"
