"""A unified diff cut into files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from agent.files.git_diff import FileDiff, parse_diff, read_diff

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
        FileDiff("gone.py", 0, 1, ("@@ -1 +0,0 @@", "-x")),
    )
    assert parse_diff("") == ()


def repository(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    (tmp_path / "a b.py").write_text("old\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True)
    (tmp_path / "a b.py").write_text("new\n")


async def test_a_repository_with_a_change(tmp_path: Path) -> None:
    repository(tmp_path)
    found = await read_diff(tmp_path, os.environ)
    assert found is not None
    assert [(file.path, file.added, file.removed) for file in found] == [("a b.py", 1, 1)]
    assert await read_diff(tmp_path.parent, os.environ) is None


async def test_new_files_and_odd_names_are_in_it(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / 'q"uo\nte.py').write_text("a\nb\n")
    (tmp_path / "bin").write_bytes(b"\0")
    found = await read_diff(tmp_path, os.environ)
    assert found is not None
    assert {(file.path, file.added) for file in found} == {
        ("a b.py", 1), ('q"uo\nte.py', 2), ("bin", 0),
    }  # fmt: skip


def staged(folder: Path) -> None:
    for arguments in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)


async def test_a_repository_without_a_commit_has_changes(tmp_path: Path) -> None:
    (tmp_path / 'a"b').write_text("x\n")
    staged(tmp_path)
    found = await read_diff(tmp_path, os.environ)
    assert found is not None
    assert [(file.path, file.added) for file in found] == [('a"b', 1)]
