"""What is known of programs that fetch from forges, and of other version control."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import names
from permissions.shell.programs.common_arguments import (
    settings_after,
)
from permissions.shell.programs.git import git_risk
from permissions.shell.programs.program import (
    Creates,
    Program,
)
from permissions.shell.syntax import (
    Word,
)


def github_risk(program: str, words: Sequence[Word]) -> str:
    """Return which subcommand decides what gh or git runs."""
    del program
    operands = [word.plain for word in words if not word.plain.startswith("-")]
    if operands[:2] in _RUNS:
        return f"gh {' '.join(operands[:2])} decides what gh runs"
    if operands[:2] == ["repo", "clone"]:
        position = next((i for i, word in enumerate(words) if word.plain == "--"), len(words))
        return git_risk("git", [Word("clone", "clone"), *words[position + 1 :]])
    return ""


_RUNS = (
    *(["alias", "set"], ["alias", "import"], ["config", "set"]),
    *(["extension", "install"], ["extension", "exec"], ["extension", "upgrade"]),
)


def creates_forge(words: Sequence[str]) -> Creates | None:
    if "clone" in words[:2]:
        return Creates.TREE
    return Creates.TREE if "checkout" in words[:2] else None


def creates_older(words: Sequence[str]) -> Creates | None:
    taken = names("checkout co update up switch merge pull clone import unshelve revert")
    return Creates.TREE if words[:1] and words[0] in taken else None


PROGRAMS = (
    Program("gh", output_files="-O --output", output_directories="-D --dir",
        output_operands={"repo clone": 1, "gist clone": 1}, read_options="-F --body-file --input "
        "--notes-file", reads_after={"gist create": 0, "release upload": 1, "secret set": 0},
        reads_at_files=True, changes_settings=settings_after("~/.config/gh/config.yml", "config "
        "set", "alias set", "alias import"), risk_check=github_risk, creates=creates_forge,
        global_valued="R", network="*", has_subcommands=True, exact_subcommands="alias api auth "
        "extension repo secret", exact_third="close delete edit merge reopen run transfer"),
    Program("glab", network="*"),
    Program("svn", output_operands={"checkout": 1, "co": 1, "export": 1}, creates=creates_older,
        global_valued=""),
    Program("hg", output_operands={"clone": 1}, creates=creates_older, global_valued="R"),
)  # fmt: skip
