"""Finds which files of the work tree a git command could change, by queries to git before it runs.
The result may have too many files, never too few: for a revision, all that differ count. Names are
relative to the top of the work tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from permissions.base.text.late_pattern import compile_late

Ask = Callable[[tuple[str, ...], bytes], bytes | None]
"""Runs git with these arguments and this input; returns what it printed, None if it failed."""

_NAMES: Final = ("--name-only", "--no-renames", "--no-relative", "-z")
_SETTINGS: Final = ("-c", "log.showRoot=true", "-c", "log.showSignature=false")
_LOG: Final = (*_SETTINGS, "log", "--format=", "--diff-merges=separate", *_NAMES)
_VALUED: Final = frozenset(
    "-C -c --git-dir --work-tree --namespace --config-env --attr-source".split()
)
"""Git's own options that take the next word."""
_HEADER: Final = compile_late(
    r"^(diff --git|---|\+\+\+|(?:rename|copy) (?:from|to)) (.+)$", re.MULTILINE
)
"""Lines of a patch that name a file."""


class ChangesUnknown(Exception):
    """The files that git would change cannot be determined; the text says why."""


class GitWords(NamedTuple):
    """The words after a subcommand."""

    options: tuple[str, ...]
    operands: tuple[str, ...]
    """Words before `--`, without the options; `-` is one."""
    paths: tuple[str, ...] | None
    """Words after `--`; None without it."""

    def has(self, *names: str) -> bool:
        """Return whether one of the options is given; long ones may be abbreviated or have a
        value."""
        return any(_is_option(option, name) for option in self.options for name in names)


def split_git(words: Sequence[str]) -> tuple[Sequence[str], str, Sequence[str]]:
    """Return git's own options, the subcommand ("" if there is none) and the words after it."""
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _VALUED else 1
    return words[:position], "".join(words[position : position + 1]), words[position + 1 :]


def git_words(words: Sequence[str]) -> GitWords:
    """Split the words after a subcommand."""
    end = words.index("--") if "--" in words else len(words)
    words_before, paths = words[:end], tuple(words[end + 1 :]) if end < len(words) else None
    options = tuple(word for word in words_before if word.startswith("-") and word != "-")
    return GitWords(options, tuple(word for word in words_before if word not in options), paths)


def _is_option(option: str, name: str) -> bool:
    if name.startswith("--"):
        word = option.partition("=")[0]
        return len(word) > 3 and name.startswith(word)
    return not option.startswith("--") and name[1] in option[1:]


def changed_names(subcommand: str, rest: Sequence[str], ask: Ask) -> frozenset[str]:
    """Return the names that a subcommand could change in the work tree.

    Raises:
        ChangesUnknown: Git could not determine it, although the command might run.
    """
    form = _FORMS.get(subcommand)
    return frozenset() if form is None else frozenset(form(git_words(rest), ask)) - {""}


def _list_files(ask: Ask, *arguments: str) -> list[str]:
    answer = ask(arguments, b"")
    if answer is None:
        raise ChangesUnknown("git could not compare revisions")
    # A log has a newline before the first name of each commit.
    return [name.removeprefix("\n") for name in _text(answer).split("\0")]


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _trees(words: Sequence[str], ask: Ask) -> dict[str, str]:
    """Return the words that name a commit or a tree, each with its object."""
    revisions = [word for word in dict.fromkeys(words) if "\n" not in word]
    lines = "".join(f"{word}\n" for word in revisions).encode("utf-8", "surrogateescape")
    answer = ask(("cat-file", "--batch-check"), lines)
    if answer is None:
        raise ChangesUnknown("git could not look up revisions")
    replies = _text(answer).splitlines()
    return {
        word: word
        for word, reply in zip(revisions, replies, strict=False)
        if re.fullmatch(r"[0-9a-f]{40,64} (?:commit|tree|tag) \d+", reply)
    }


def _file_of_git(name: str, ask: Ask) -> str | None:
    """Return the path of a file in the repository's own directory; None if it does not exist."""
    answer = ask(("rev-parse", "--path-format=absolute", "--git-path", name), b"")
    if answer is None:
        raise ChangesUnknown("git could not name its directory")
    path = _text(answer).removesuffix("\n")
    return path if os.path.exists(path) else None


def _text_in(path: str | None) -> str:
    if path is None:
        return ""
    with open(path, encoding="utf-8", errors="surrogateescape") as stream:
        return stream.read()


def _from_head(trees: Sequence[str], ask: Ask) -> Iterator[str]:
    """Yield the names that moving HEAD to these trees would change."""
    head = _trees(["HEAD"], ask)
    for tree in trees:
        if head:
            yield from _list_files(ask, "diff-tree", "-r", *_NAMES, "HEAD", tree, "--")
        else:
            yield from _list_files(ask, "ls-tree", "-r", "--name-only", "-z", "--full-tree", tree)


def _differing(tree: str, paths: Sequence[str], ask: Ask) -> Iterator[str]:
    """Yield the names that differ from a tree, or from the index if `tree` is empty."""
    command = ("diff-index", *_NAMES, tree) if tree else ("diff-files", *_NAMES)
    yield from _list_files(ask, *command, "--", *paths)


def _operands(words: GitWords) -> list[str]:
    """Return the words that may be revisions: operands, and values attached to options."""
    values = [word.partition("=")[2] for word in words.options if "=" in word]
    values += [word[2:] for word in words.options if word[1:2] != "-" and len(word) > 2]
    return ["@{-1}" if word == "-" else word for word in (*words.operands, *values)]


def _checkout(words: GitWords, ask: Ask) -> Iterator[str]:
    operands = _operands(words)
    trees = [*_trees(operands, ask), *_of_remotes(operands, ask)]
    path_words = [word for word in words.operands if word not in trees and word != "-"]
    makes = words.has("-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan")
    if words.paths is not None or (path_words and not makes) or words.has("--pathspec-from-file"):
        for tree in trees or [""]:
            yield from _differing(tree, (*path_words, *(words.paths or ())), ask)
    if words.has("-f", "--force", "--discard-changes", "-m", "--merge", "--orphan"):
        for tree in trees or ["HEAD"]:
            yield from _differing(tree, (), ask)
    if words.paths is None:
        yield from _from_head(trees, ask)


def _of_remotes(words: Sequence[str], ask: Ask) -> list[str]:
    """Return the remote branches with these names, which a checkout finds automatically."""
    patterns = [f"refs/remotes/*/{word}" for word in words if not re.search(r"[*?\[\\^:]", word)]
    if not patterns:
        return []
    return _text(ask(("for-each-ref", "--format=%(refname)", *patterns), b"") or b"").splitlines()


def _reset(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("--hard", "--merge", "--keep"):
        trees = list(_trees(_operands(words), ask)) or ["HEAD"]
        yield from _from_head(trees, ask)
        for tree in trees:
            yield from _differing(tree, (), ask)


def _restore(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("-S", "--staged") and not words.has("-W", "--worktree"):
        return
    is_from = words.has("-s", "--source")
    trees = list(_trees(_operands(words), ask)) if is_from else []
    paths = (*(word for word in words.operands if word not in trees), *(words.paths or ()))
    for tree in trees or [""]:
        yield from _differing(tree, paths, ask)


def _read_tree(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("-u"):
        trees = list(_trees(_operands(words), ask))
        yield from _from_head(trees, ask)
        for tree in trees:
            yield from _differing(tree, (), ask)


def _merge(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("--abort"):
        yield from _differing("HEAD", (), ask)
    if words.has("--abort", "--continue", "--quit"):
        return
    operands = _operands(words) or ["@{upstream}"]
    if "FETCH_HEAD" in operands:
        lines = _text_in(_file_of_git("FETCH_HEAD", ask)).splitlines()
        operands += [line.partition("\t")[0] for line in lines if "\tnot-for-merge\t" not in line]
    for tree in _trees(operands, ask):
        answer = ask(("diff", *_NAMES, f"HEAD...{tree}", "--"), b"")
        if answer is None:
            # They have no common ancestor.
            yield from _from_head([tree], ask)
        else:
            yield from _text(answer).split("\0")


def _pull(words: GitWords, ask: Ask) -> Iterator[str]:
    """A separate git command merges what is fetched, and is checked then."""
    if not _trees(["HEAD"], ask):
        raise ChangesUnknown("there is no commit yet, and what is fetched is not known before")
    if not words.operands:
        yield from _merge(GitWords((), (), None), ask)


def _rebase(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("--continue", "--skip", "--abort"):
        yield from _differing("HEAD", (), ask)
        for directory in ("rebase-merge", "rebase-apply"):
            origin = _text_in(_file_of_git(f"{directory}/orig-head", ask)).split()
            for commit in origin[:1]:
                yield from _list_files(ask, *_LOG, f"HEAD...{commit}", "--")
        return
    trees = _trees(_operands(words), ask) or _trees(["@{upstream}"], ask)
    yield from _from_head(list(trees), ask)
    for tree in trees:
        yield from _list_files(ask, *_LOG, f"HEAD...{tree}", "--")
    if words.has("--root"):
        yield from _list_files(ask, *_LOG, "HEAD", "--")


def _picks(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("--continue", "--skip", "--abort", "--quit"):
        yield from _differing("HEAD", (), ask)
        todo = _text_in(_file_of_git("sequencer/todo", ask)).split()
        commits = list(_trees([word for word in todo if re.fullmatch("[0-9a-f]+", word)], ask))
        head = _text_in(_file_of_git("sequencer/head", ask)).split()[:1]
        yield from _from_head(head if words.has("--abort") else [], ask)
    elif words.has("--stdin"):
        raise ChangesUnknown("the commits stand on its input")
    else:
        commits = [word for word in _operands(words) if _trees([word.rpartition("..")[2]], ask)]
    if commits:
        yield from _list_files(ask, *_LOG, "--no-walk", *commits, "--")


def _stash(words: GitWords, ask: Ask) -> Iterator[str]:
    verb, *rest = words.operands or ("push",)
    if verb in ("pop", "apply", "branch"):
        stashes = [f"stash@{{{one}}}" if one.isdigit() else one for one in rest]
        for stash in _trees(
            [*stashes, *([] if stashes[verb == "branch" :] else ["stash@{0}"])], ask
        ):
            yield from _list_files(ask, "diff-tree", "-r", *_NAMES, f"{stash}^1", stash, "--")
            for tree in _trees([f"{stash}^3"], ask):
                yield from _list_files(
                    ask, "ls-tree", "-r", "--name-only", "-z", "--full-tree", tree
                )
            yield from _from_head([f"{stash}^1"] if verb == "branch" else [], ask)
    elif verb in ("push", "save"):
        paths = words.paths or ()
        yield from _differing("HEAD", paths, ask)
        if words.has("-u", "-a", "--include-untracked", "--all"):
            yield from _list_untracked(paths, ask, with_ignored=words.has("-a", "--all"))


def _list_untracked(paths: Sequence[str], ask: Ask, *, with_ignored: bool) -> list[str]:
    kind = () if with_ignored else ("--exclude-standard",)
    return _list_files(ask, "ls-files", "--others", "--full-name", "-z", *kind, "--", *paths)


def _clean(words: GitWords, ask: Ask) -> list[str]:
    if words.has("-n", "--dry-run"):
        return []
    paths = (*words.operands, *(words.paths or ()))
    return _list_untracked(paths, ask, with_ignored=words.has("-x", "-X"))


def _list_removed(words: GitWords, ask: Ask) -> list[str]:
    if words.has("-n", "--dry-run", "--cached"):
        return []
    return _list_files(
        ask, "ls-files", "--full-name", "-z", "--", *words.operands, *(words.paths or ())
    )


def _sparse(words: GitWords, ask: Ask) -> list[str]:
    if words.operands[:1] in (("list",), ("check-rules",), ()):
        return []
    return _list_files(ask, "ls-files", "--full-name", "-z")


def _from_index(words: GitWords, ask: Ask) -> list[str]:
    if words.has("--prefix"):
        return _list_files(ask, "ls-files", "--full-name", "-z")
    return list(_differing("", (), ask))


def patched_names(patch: bytes) -> frozenset[str]:
    """Return the file names in the headers of a patch, and in lines that look like headers.

    Raises:
        ChangesUnknown: The patch is an encoded mail.
    """
    if re.search(rb"^content-transfer-encoding: *base64", patch, re.IGNORECASE | re.MULTILINE):
        raise ChangesUnknown("the patch is encoded")
    file_names = set[str]()
    for kind, line in _HEADER.findall(_text(patch)):
        # This line has the same name twice if no other line has it.
        name = line[len(line) // 2 + 1 :] if kind == "diff --git" else line.partition("\t")[0]
        file_names.add(re.sub("^[abciow]/", "", name.rstrip("\r").strip('"')))
    return frozenset(file_names - {"dev/null", "/dev/null"})


def patches(subcommand: str, rest: Sequence[str], ask: Ask) -> tuple[str, ...]:
    """Return the patch files that it applies, as named; `-` is its input."""
    words = git_words(rest)
    if subcommand == "am" and words.has("--continue", "--skip", "--abort", "--resolved", "-r"):
        directory = _file_of_git("rebase-apply", ask)
        names = () if directory is None else os.listdir(directory)
        return tuple(f"{directory}/{name}" for name in names if name[0] in "0123456789")
    if subcommand in ("am", "apply"):
        return (*words.operands, *(words.paths or ())) or ("-",)
    return ()


def _am(words: GitWords, ask: Ask) -> Iterator[str]:
    if words.has("--abort", "--skip"):
        yield from _differing("HEAD", (), ask)
        for commit in _text_in(_file_of_git("rebase-apply/abort-safety", ask)).split()[:1]:
            yield from _list_files(ask, *_LOG, f"{commit}...ORIG_HEAD", "--")


_Form = Callable[[GitWords, Ask], Iterator[str] | list[str]]
_FORMS: Final[dict[str, _Form]] = {
    "checkout": _checkout,
    "switch": _checkout,
    "reset": _reset,
    "restore": _restore,
    "read-tree": _read_tree,
    "checkout-index": _from_index,
    "sparse-checkout": _sparse,
    "merge": _merge,
    "pull": _pull,
    "rebase": _rebase,
    "cherry-pick": _picks,
    "revert": _picks,
    "stash": _stash,
    "am": _am,
    "clean": _clean,
    "rm": _list_removed,
    "mv": _list_removed,
}
MAKES_TREES: Final = frozenset({"clone", "init", "worktree"})
"""Subcommands that write a separate work tree."""
CHANGES_NO_TREE: Final = frozenset(
    "add annotate archive blame branch bundle cat-file check-attr check-ignore commit commit- "
    "graph commit-tree config count-objects describe diff diff-files diff-index diff-tree fetch "
    "fetch-pack for-each-ref fsck gc grep hash-object help index-pack log ls-files ls-remote "
    "ls-tree maintenance merge-base multi-pack-index name-rev notes pack-objects pack-refs "
    "prune push range-diff receive-pack reflog remote repack rev-list rev-parse send-pack "
    "shortlog show show-branch show-ref status symbolic-ref tag unpack-objects update-index "
    "update-ref upload-pack var version whatchanged write-tree".split()
)
"""Subcommands that change no file of a work tree and start no git command that does."""
