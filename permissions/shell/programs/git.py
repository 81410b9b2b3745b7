"""What is known of git: its subcommands, what it reads and changes, and what it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from permissions.base.text.star_pattern import UNKNOWN
from permissions.paths.protected_paths import may_be_protected
from permissions.shell.access import HERE, Access, AccessKind, attached_values, each, names
from permissions.shell.arguments import (
    Arguments,
    could_be_option,
    ends_options,
    is_listed,
    split_arguments,
)
from permissions.shell.flow.nested_scripts import (
    Texts,
)
from permissions.shell.program import (
    Commands,
    Program,
)
from permissions.shell.syntax import (
    GLOB_MARKS,
    HOME_MARK,
    Word,
)


class Subcommand(Struct, frozen=True):
    """What is known of one subcommand, or of several that are alike."""

    names: str
    reads_place: bool = False
    """Changes nothing in the repository."""
    output_options: str = ""
    """Options whose value is a file that is written."""
    input_options: str = ""
    """Options whose value is a file that is read."""
    risky: str = ""
    """Options that run programs or write files."""
    runs: str = ""
    """The word that a command follows."""
    writes_words: bool = False
    """Words that lead out of the work tree, or to a protected file, may be written."""
    read_only: bool = False
    """It only reads, whatever its words, if none is risky."""
    files: Callable[[Sequence[Word], bool], list[Access]] | None = None
    """Files among its operands, and whether git was moved elsewhere (`-C`)."""


_VALUED_LONG = names("--git-dir --work-tree --namespace --exec-path --config-env")


def git_parts(words: Sequence[Word]) -> tuple[Arguments, str, tuple[Word, ...]]:
    """Return git's own options, its subcommand ("" when unknown) and what follows it."""
    found = split_arguments(words, valued="Cc", valued_long=_VALUED_LONG, stops_at_operand=True)
    if not found.operands or not found.operands[0].is_literal:
        return found, "", ()
    return found, found.operands[0].text, found.operands[1:]


# Files.


def git(words: Sequence[Word]) -> list[Access]:
    """Return the places that git reads and changes."""
    found, subcommand, rest = git_parts(words)
    known = _known(subcommand)
    places = found.values("-C", "--git-dir", "--work-tree")
    kind = AccessKind.READ if known.reads_place else AccessKind.PLACE
    result = [
        # Git changes its own directory; what counts is where the work tree is.
        Access(kind, Word(place.raw, place.text.removesuffix("/.git").removesuffix(".git") or "."))
        for place in places
    ]
    if kind is AccessKind.PLACE and not places and subcommand not in ("", "clone", "init"):
        result.append(Access(AccessKind.PLACE, HERE))
    written = attached_values(rest, names(known.output_options))
    result.extend(each(_written_kind(subcommand, rest), written))
    result.extend(each(AccessKind.READ, attached_values(rest, names(known.input_options))))
    return [*result, *_named_files(subcommand, rest, is_moved=bool(places))]


def _named_files(subcommand: str, rest: Sequence[Word], *, is_moved: bool) -> list[Access]:
    known = _known(subcommand)
    result = known.files(rest, is_moved) if known.files is not None else []
    if known.writes_words or known is _UNKNOWN:
        written = _written_words(subcommand, rest)
        result.extend(one for one in written if not is_moved or one.path.text.startswith("/"))
    if subcommand in _SHOWING:
        result.extend(_shown(rest))
    return result


def _written_kind(subcommand: str, rest: Sequence[Word]) -> AccessKind:
    reads = subcommand == "config" and _reads_config(rest)
    return AccessKind.READ if reads else AccessKind.WRITE


def _written_words(subcommand: str, rest: Sequence[Word]) -> list[Access]:
    """Return the words, and values of options, that lead out or to a protected file."""
    source = _clone_operands(rest)[:1] if subcommand == "clone" else ()
    found: list[Word] = []
    for word in rest:
        value = word
        if word.plain.startswith("--"):
            name, equals, _ = word.text.partition("=")
            value = Word(word.raw, word.text[len(name) + 1 :] if equals else "", word.splits)
        elif word.plain.startswith("-"):
            value = Word(word.raw, word.text[2:], word.splits)
        if word not in source and (_leaves(value.text) or _is_guarded(value)):
            found.append(value)
    return [
        *each(AccessKind.READ, [one for one in source if _leaves(one.text)]),
        *each(AccessKind.WRITE, found),
    ]


_SHOWING = names(
    "show log diff blame annotate grep cat-file archive whatchanged stash add hash-object "
    "format-patch diff-tree diff-index diff-files rev-list range-diff checkout restore"
)
"""Subcommands that print or hand on what files hold, now or in a commit."""
_MAGIC = re.compile(r":(?:\([a-z,:]*\)|[/!^]+)")


def _shown(rest: Sequence[Word]) -> list[Access]:
    """Return the files that are named, as `commit:file` or as a pattern of git's own."""
    found: list[Word] = []
    for word in rest:
        if word.text.startswith(("--batch", "--stdin")) and word.text != "--batch-check":
            # What is shown stands on its input.
            found.extend(Word(word.raw, dot + GLOB_MARKS["*"]) for dot in ("", "."))
        elif word.text and not word.plain.startswith("-"):
            text = _MAGIC.sub("", word.text, count=1).rpartition(":")[2]
            found.append(Word(word.raw, text.translate(_PATTERN) or ".", word.splits))
    return each(AccessKind.MENTIONED, [word for word in found if not word.is_unknown])


_PATTERN = str.maketrans(GLOB_MARKS)


class _Config(Struct, frozen=True):
    """What `git config` is given: only options before the first operand are options."""

    options: frozenset[str]
    operands: tuple[Word, ...]


def _config(rest: Sequence[Word]) -> _Config:
    found = split_arguments(rest, valued="f", valued_long=_CONFIG_VALUED, stops_at_operand=True)
    return _Config(frozenset(one.name for one in found.options), found.operands)


def _reads_config(rest: Sequence[Word]) -> bool:
    """Does `git config` only read? Later words are values, whatever they look like."""
    config = _config(rest)
    if not config.options <= _READING_CONFIG | _WHERE_CONFIG:
        return False
    if config.options & _READING_CONFIG:
        return True
    operands = [word.plain for word in config.operands]
    return operands[:1] in (["get"], ["list"]) or (len(operands) == 1 and "." in operands[0])


_CONFIG_VALUED = names("--file --blob --type --default --value --url")
_READING_CONFIG = names("--get --get-all --get-regexp --get-urlmatch --list -l")
_WHERE_CONFIG = names(
    "--global --system --local --worktree --show-origin --show-scope --name-only -z --null -f "
    "--file --blob --type --bool --int --path --default --includes --no-includes"
)


def _compared(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    """Outside a repository, and for paths outside of it, diff and grep look at any file."""
    is_any = any(word.text == "--no-index" for word in rest)
    operands = split_arguments(rest).operands
    return each(AccessKind.READ, [word for word in operands if is_any or _leaves(word.text)])


def _applied(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    if not any(word.text == "--unsafe-paths" for word in rest):
        return []
    # The patch alone determines where.
    return [Access(AccessKind.WRITE, Word("git apply --unsafe-paths", UNKNOWN))]


def _clone_operands(rest: Sequence[Word]) -> tuple[Word, ...]:
    return split_arguments(rest, valued="bocuj", valued_long=_CLONE_LONG).operands


def _cloned(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    operands = _clone_operands(rest)
    place = operands[1:2] if len(operands) != 1 else (_directory_of(operands[0]),)
    return each(AccessKind.WRITE, place or (HERE,))


_CLONE_LONG = names(
    "--branch --depth --origin --config --template --reference --separate-git-dir --jobs --filter "
    "--shallow-since --shallow-exclude --server-option --bundle-uri --initial-branch --revision "
    "--reference-if-able --upload-pack --object-format --ref-format"
)


def _directory_of(address: Word) -> Word:
    """Return the directory that a clone is named: the last piece of its address, as git cuts it."""
    name = re.split(r"[/:]", address.text.rstrip("/").removesuffix("/.git"))[-1]
    name = name.removesuffix(".git").removesuffix(".bundle")
    if not address.is_literal or name in ("", ".", ".."):
        return HERE
    return Word(address.raw, name)


def _work_trees(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    return each(AccessKind.WRITE, split_arguments(rest, valued="bB").operands[1:2])


def _removed(rest: Sequence[Word], is_moved: bool) -> list[Access]:
    return each(AccessKind.REMOVE, () if is_moved else split_arguments(rest).operands)


def _is_guarded(word: Word) -> bool:
    """Could it be the name of a protected file? A branch has no name with a dot in front."""
    text = word.text.removeprefix("./")
    return word.is_literal and text not in ("", ".") and may_be_protected(f"/{text}")


def _leaves(text: str) -> bool:
    return text.startswith(("/", "~", "..", HOME_MARK)) or "/../" in text


def changes_settings(words: Sequence[Word]) -> str:
    """Return the settings that git changes: of the user, the machine or the repository."""
    found = split_arguments(words, valued="Cc", stops_at_operand=True)
    if not found.operands:
        return ""
    subcommand, rest = found.operands[0].text, found.operands[1:]
    texts = {word.text for word in rest}
    if subcommand == "init":
        return (
            "" if split_arguments(rest, valued="b", valued_long=_INIT_VALUED).operands else _CONFIG
        )
    if subcommand != "config":
        return _CONFIG if texts & _CONFIGURING.get(subcommand, frozenset()) else ""
    if _reads_config(rest):
        return ""
    if _has_short(texts, "--global"):
        return "~/.gitconfig"
    if _has_short(texts, "--system"):
        return "/etc/gitconfig"
    return "" if any(text.startswith(("-f", "--fi")) for text in texts) else _CONFIG


_CONFIG = ".git/config"
_INIT_VALUED = names("--initial-branch --template --separate-git-dir --object-format --ref-format")
_CONFIGURING = {
    "remote": names("add remove rm rename set-url set-branches"),
    "branch": names("-u --set-upstream-to --unset-upstream -m -M --move --edit-description"),
    "push": names("-u --set-upstream"),
    "checkout": names("-t --track"),
    "switch": names("-t --track"),
    "submodule": names("add init deinit sync"),
    "sparse-checkout": names("init set add disable"),
    "lfs": names("install"),
}
"""Subcommands that write the repository's configuration, with the words that make them."""


def _has_short(texts: Iterable[str], option: str) -> bool:
    """Is an option of git given, maybe shortened?"""
    return any(len(text) > 3 and option.startswith(text) for text in texts)


# What a rule or a mode may allow.

_RISKY_OPTIONS = names("-c --config-env --exec-path")
_LOG_VALUED = names(
    "-n -S -G -L --author --committer --grep --since --until --after --before --max-count --skip"
)
"""Options of `git log` and its like that take the next word as their value, whatever it is."""
_EXTERNAL = re.compile(r"(?:-[^=]*=)?ext::")
"""An address whose transport is a command."""


def git_risk(_program: str, words: Sequence[Word]) -> str:
    """Return which argument runs a program or writes a file outside git's own directory."""
    found, subcommand, rest = git_parts(words)
    if found.injectable and not subcommand:
        return "a word that is not known could be an option of git"
    for option in found.options:
        if option.name in _RISKY_OPTIONS:
            return f"git {option.name} can run programs"
    known = _known(subcommand)
    if known is _UNKNOWN and (subcommand or not found.options):
        return f"git {subcommand} is none of the subcommands that a wildcard covers".replace(
            "  ", " "
        )
    for word in _words_at_risk(subcommand, rest):
        if risk := _word_risk(subcommand, known, word):
            return risk
    sets = subcommand == "config" and not _reads_config(rest)
    return "git config can set programs that git runs" if sets else ""


def _words_at_risk(subcommand: str, rest: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that are no values; of those behind `--`, what is written out.

    Not every subcommand ends its options there: blame reads those of log behind it.
    """
    # Elsewhere `-n` and `-S` are switches, and what follows them is a word of its own.
    valued = _LOG_VALUED if subcommand in ("log", "show", "whatchanged") else frozenset[str]()
    before, is_behind = "", False
    for position, word in enumerate(rest):
        text = word.plain
        is_value = before in valued and not word.splits and not text.startswith("-")
        before = text
        if text == "--" and ends_options(rest, position, "pqvrwinlaz"):
            is_behind = subcommand not in ("blame", "annotate")
        elif not (is_value or (is_behind and could_be_option(word))):
            yield word


def _word_risk(subcommand: str, known: Subcommand, word: Word) -> str:
    text = word.plain
    if text in names(known.runs):
        return f"git {subcommand} {text} runs a command"
    if _EXTERNAL.match(text):
        return "an ext:: address runs a command"
    risky = names(known.risky)
    if risky and could_be_option(word):
        return f"a word that is not known could be an option of git {subcommand}"
    name = text.partition("=")[0]
    if text.startswith("--") and is_listed(name, "", risky, exact=False):
        return f"git {subcommand} {name} runs a program or writes a file"
    if re.match(r"-[A-Za-z]", text):
        letter = next((mark for mark in text[1:] if f"-{mark}" in risky), "")
        if letter:
            return f"git {subcommand} -{letter} runs a program or writes a file"
    return ""


_READING_OPTIONS = ("-C", "--no-pager", "--no-optional-locks", "-P")
_LISTING = re.compile(
    r"(?:branch|tag)(?: (?:-[alnrv]+\d*|--(?:all|show-current|remotes|verbose|list"
    r"|(?:(?:no-)?(?:color|merged)|format|sort|contains|points-at)(?:=\S*)?)))*"
    r"|(?:branch|tag) (?:-\S+ )*(?:-[ln]+|--(?:list|contains|(?:no-)?merged|points-at))(?: .*)?"
    r"|clean(?: -[dxXfq]+)* (?:-[dxXfq]*n[dxXfqn]*|--dry-run)(?: -[dxXfqn]+)*"
    r"|remote(?: -v| --verbose| show| show -n .*| get-url .*)?"
    r"|reflog(?: -n.*| show.*)?|stash (?:list|show)(?: .*)?|worktree list(?: --porcelain)?"
)
"""Subcommands that may write, with words with which they are meant to list. That they write nothing
is enforced where such a command needs no permission."""


def reads_only(words: Sequence[Word]) -> bool:
    """Is git meant to read, if nothing risky is among its words?"""
    found, subcommand, rest = git_parts(words)
    if any(option.name not in _READING_OPTIONS for option in found.options):
        return False
    if any(word.splits for word in rest):
        return False
    if _known(subcommand).read_only or subcommand == "config":
        return subcommand != "config" or _reads_config(rest)
    texts = [word.plain.replace(" ", "\xa0") for word in rest]
    return _LISTING.fullmatch(" ".join((subcommand, *texts))) is not None


# What it runs.

_COMMAND_TEXTS = names(
    "-x --exec --extcmd --tree-filter --index-filter --msg-filter --commit-filter --env-filter "
    "--parent-filter --tag-name-filter"
)
_VALUED = names("-c -C --git-dir --work-tree --namespace --config-env --exec-path")


def commands(words: tuple[Word, ...]) -> Commands:
    """Return what git's aliases, filters and `run` subcommands start."""
    texts = _aliases(words)
    if texts is None:
        return [], Texts(hidden="git -c sets something that is not known before")
    runs_texts = any(word.text in ("rebase", "difftool", "filter-branch") for word in words)
    for option, value in pairwise(words if runs_texts else ()):
        # `git rebase --exec` and the filters of `git filter-branch` are texts for a shell.
        if option.text in _COMMAND_TEXTS and value.is_literal:
            texts.append(value.text)
    inner = _behind_run(words)
    if len(inner) == 1 and inner[0].is_literal:
        return [], Texts((*texts, inner[0].text))
    return [inner] if inner else [], Texts(tuple(texts))


def _behind_run(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Return the command of `bisect run` and `submodule foreach`."""
    position = next((i for i, w in enumerate(words) if w.text in ("run", "foreach")), 0)
    runs = any(word.text in ("bisect", "submodule") for word in words[:position])
    return words[position + 1 :] if runs else ()


def _aliases(words: Sequence[Word]) -> list[str] | None:
    """Return the commands that `-c alias.x=…` defines; None for a setting that is not known."""
    texts: list[str] = []
    for position, word in enumerate(words):
        follows_option = position > 0 and words[position - 1].plain in _VALUED
        if not word.plain.startswith("-") and not follows_option:
            break
        for value in words[position + 1 : position + 2] if word.plain == "-c" else ():
            if not value.is_literal:
                return None
            key, _, setting = value.text.partition("=")
            if key.lower().startswith("alias."):
                texts.append(setting[1:] if setting.startswith("!") else f"git {setting}")
    return texts


def configured_commands(words: Sequence[Word]) -> Iterator[str]:
    """Yield the aliases and helpers that `git config` sets, where they are commands."""
    if any(word.text == "config" for word in words):
        yield from (word.text[1:] for word in words if word.text.startswith("!"))


def _known(subcommand: str) -> Subcommand:
    return _SUBCOMMANDS.get(subcommand, _UNKNOWN)


_UNKNOWN = Subcommand("")


_DIFF_RISK = "--ext-diff --output --textconv"
_SUBCOMMANDS = {
    name: one
    for one in (
        Subcommand("status rev-parse ls-tree describe check-ignore check-attr merge-base name-rev "
            "for-each-ref show-ref count-objects", reads_place=True, read_only=True),
        Subcommand("help var version show-branch verify-commit verify-tag fsck merge-tree",
            reads_place=True),
        Subcommand("diff", reads_place=True, output_options="--output", risky=_DIFF_RISK,
            read_only=True, files=_compared),
        Subcommand("show log whatchanged", reads_place=True, output_options="--output",
            risky=_DIFF_RISK, read_only=True),
        Subcommand("shortlog rev-list diff-tree diff-index diff-files range-diff cherry",
            reads_place=True, risky=_DIFF_RISK, read_only=True),
        Subcommand("ls-files", reads_place=True, input_options="-X --exclude-from", read_only=True),
        Subcommand("blame", reads_place=True, input_options="-S --contents --ignore-revs-file",
            risky=_DIFF_RISK, read_only=True),
        Subcommand("annotate", reads_place=True, risky=_DIFF_RISK),
        Subcommand("cat-file", reads_place=True, risky="--filters --textconv", read_only=True),
        Subcommand("grep", reads_place=True, input_options="-f", risky="-O --open-files-in-pager "
            "--textconv", read_only=True, files=_compared),
        Subcommand("branch remote"),
        Subcommand("tag", input_options="-F --file"),
        Subcommand("stash", output_options="--output", writes_words=True, risky=_DIFF_RISK),
        Subcommand("config", output_options="-f --file"),
        Subcommand("worktree", files=_work_trees, writes_words=True),
        Subcommand("reflog", risky=_DIFF_RISK),
        Subcommand("clean", writes_words=True),
        Subcommand("format-patch", output_options="-o --output --output-directory",
            risky=f"-o --output-directory {_DIFF_RISK}", writes_words=True),
        Subcommand("rebase", risky="--exec -x"),
        Subcommand("clone", risky="-c --config --template -u --upload-pack", files=_cloned,
            writes_words=True),
        Subcommand("fetch", risky="--upload-pack"),
        Subcommand("pull", risky="--upload-pack"),
        Subcommand("push", risky="--exec --receive-pack", writes_words=True),
        Subcommand("ls-remote", risky="--exec --upload-pack"),
        Subcommand("archive", output_options="-o --output", risky="--exec -o --output",
            writes_words=True),
        Subcommand("init", risky="--template", writes_words=True),
        Subcommand("bundle", writes_words=True),
        Subcommand("commit notes", input_options="-F --file"),
        Subcommand("add update-index update-ref symbolic-ref pack-refs commit-tree write-tree "
            "hash-object gc prune repack"),
        Subcommand("apply", risky="--unsafe-paths", files=_applied,
            writes_words=True),
        Subcommand("merge", input_options="-F --file"),
        Subcommand("am cherry-pick revert switch"),
        Subcommand("read-tree sparse-checkout",
            writes_words=True),
        Subcommand("bisect", runs="run"),
        Subcommand("checkout restore reset", writes_words=True),
        Subcommand("lfs"),
        Subcommand("mv rm", files=_removed),
        Subcommand("submodule", runs="foreach"),
    )
    for name in one.names.split()
}  # fmt: skip
"""What a wildcard covers; any other subcommand may be a program of its own."""


PROGRAMS = (
    Program("git", accesses=git, changes_settings=changes_settings, risk_check=git_risk,
        read_only=reads_only, shows_version=True, command_options="-O -c --exec "
        "--open-files-in-pager --receive-pack --upload-pack", global_valued="cC", commands=commands,
        command_words=configured_commands, network="clone fetch ls-remote pull push remote "
        "submodule", logs_in=True, discards={"reset": "--hard", "clean": "", "checkout": "--",
        "restore": "", "stash": "drop clear", "branch": "-D", "rebase": ""},
        has_subcommands=True, exact_subcommands="bisect branch checkout clean config filter-branch "
        "rebase remote reset restore rm stash submodule tag update-ref worktree"),
)  # fmt: skip
