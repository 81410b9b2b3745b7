"""A repository's configuration that makes git run programs waits for trust."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings.git_config import git_items


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('[core]\n\tbare = false\n[remote "o"]\n\turl = x\n', []),
        ("[core]\n\tfsmonitor = ./evil\n", ["git core.fsmonitor = ./evil"]),
        ("[core]\n\tfsmonitor = true\n", []),
        ('[filter "lfs"]\n\tclean = rm -rf\n', ["git filter.lfs.clean = rm -rf"]),
        ('[Core] sshCommand="touch x"\n', ["git Core.sshCommand = touch x"]),
        ("[include]\n\tpath = ../evil\n", ["git include.path = ../evil"]),
        ("[core]\n\tfsmonitor = \\\n ./evil\n", ["git core.fsmonitor = ./evil"]),
    ],
    ids=["plain", "fsmonitor", "builtin-monitor", "filter", "one-line", "include", "continued"],
)
def test_entries_that_run_programs_are_items(tmp_path: Path, text: str, labels: list[str]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(text)
    assert [item.label for item in git_items(tmp_path)] == labels


def test_a_worktree_reads_the_common_configuration(tmp_path: Path) -> None:
    main = tmp_path / "main" / ".git"
    (main / "worktrees" / "w").mkdir(parents=True)
    (main / "config").write_text("[diff]\n\texternal = evil\n")
    (main / "worktrees" / "w" / "commondir").write_text("../..\n")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {main / 'worktrees' / 'w'}\n")
    assert [item.label for item in git_items(tree)] == ["git diff.external = evil"]
