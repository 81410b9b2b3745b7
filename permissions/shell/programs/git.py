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
    is_listed,
    split_arguments,
)
from permissions.shell.flow.nested_scripts import (
    Texts,
)
from permissions.shell.program import (
    Commands,
    Creates,
    Program,
)
from permissions.shell.syntax import (
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
    starts_program: bool = False
    """Starts the program it is given, or one that settings name."""
    read_only: str | None = None
    """Words with which it only reads; `*` for all that are not risky; None: it is not known to."""
    changes_tree: bool = False
    """May put anything anywhere in the work tree."""
    leaves_tree: str = ""
    """Subcommands of its own that do not."""
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
    if known.files is not None:
        result.extend(known.files(rest, bool(places)))
    return result


def _written_kind(subcommand: str, rest: Sequence[Word]) -> AccessKind:
    reads = subcommand == "config" and any(word.text in _READING_CONFIG for word in rest)
    return AccessKind.READ if reads else AccessKind.WRITE


_READING_CONFIG = names("--get --get-all --get-regexp --list -l get list")


def _compared(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    """Outside a repository, and for paths outside of it, diff and grep look at any file."""
    is_any = any(word.text == "--no-index" for word in rest)
    operands = split_arguments(rest).operands
    return each(AccessKind.READ, [word for word in operands if is_any or _leaves(word.text)])


def _bundled(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    creates = bool(rest) and rest[0].text == "create"
    return each(AccessKind.WRITE, split_arguments(rest[1:]).operands[:1] if creates else ())


def _applied(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    if not any(word.text == "--unsafe-paths" for word in rest):
        return []
    # The patch alone determines where.
    return [Access(AccessKind.WRITE, Word("git apply --unsafe-paths", UNKNOWN))]


def _packed(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    return each(AccessKind.WRITE, split_arguments(rest).operands[-1:])


def _cloned(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    operands = split_arguments(rest, valued="bocujC", valued_long=_CLONE_LONG).operands
    place = operands[1:2] if len(operands) != 1 else (_directory_of(operands[0]),)
    return each(AccessKind.WRITE, place or (HERE,))


def _initialized(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    operands = split_arguments(rest, valued="bocujC", valued_long=_CLONE_LONG).operands
    return each(AccessKind.WRITE, operands[:1] or (HERE,))


_CLONE_LONG = names("--branch --depth --origin --config --template --reference --separate-git-dir")


def _directory_of(address: Word) -> Word:
    """Return the directory that a clone is named: the last piece of its address, as git cuts it."""
    name = re.split(r"[/:]", address.text.rstrip("/").removesuffix("/.git"))[-1]
    name = name.removesuffix(".git").removesuffix(".bundle")
    if not address.is_literal or name in ("", ".", ".."):
        return HERE
    return Word(address.raw, name)


def _work_trees(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    if rest and rest[0].text == "add":
        return each(AccessKind.WRITE, split_arguments(rest[1:], valued="bB").operands[:1])
    operands = split_arguments(rest).operands
    if not operands or operands[0].text not in ("move", "remove"):
        return []
    return [*each(AccessKind.REMOVE, operands[1:2]), *each(AccessKind.WRITE, operands[2:3])]


def _outside_tree(rest: Sequence[Word], is_moved: bool) -> list[Access]:
    """Return the files that git changes where its work tree is larger than the scope."""
    operands = () if is_moved else split_arguments(rest).operands
    return each(AccessKind.WRITE, [word for word in operands if _leaves(word.text)])


def _restored(rest: Sequence[Word], is_moved: bool) -> list[Access]:
    operands = () if is_moved else split_arguments(rest).operands
    written = [word for word in operands if _leaves(word.text) or _is_guarded(word)]
    return each(AccessKind.WRITE, written)


def _removed(rest: Sequence[Word], is_moved: bool) -> list[Access]:
    return each(AccessKind.REMOVE, () if is_moved else split_arguments(rest).operands)


def _trailers(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    in_place = any(word.text == "--in-place" for word in rest)
    return each(AccessKind.WRITE, split_arguments(rest).operands if in_place else ())


def _first(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    return each(AccessKind.WRITE, split_arguments(rest).operands[:1])


def _first_two(rest: Sequence[Word], _is_moved: bool) -> list[Access]:
    return each(AccessKind.WRITE, split_arguments(rest).operands[:2])


def _is_guarded(word: Word) -> bool:
    """Could it be the name of a protected file? A branch has no name with a dot in front."""
    text = word.text.removeprefix("./")
    return word.is_literal and text not in ("", ".") and may_be_protected(f"/{text}")


def _leaves(text: str) -> bool:
    return text.startswith(("/", "~", "..", HOME_MARK)) or "/../" in text


_SETTING_CONFIG = names(
    "set unset rename-section remove-section edit --unset --unset-all --add --replace-all "
    "--rename-section --remove-section -e --edit"
)


def changes_settings(words: Sequence[Word]) -> str:
    """Return the settings of the user or the machine that `git config` changes."""
    found = split_arguments(words, valued="Cc", stops_at_operand=True)
    rest = found.operands[1:]
    if not found.operands or found.operands[0].text != "config":
        return ""
    texts = {word.text for word in rest}
    # A key alone is asked for; with a value it is set.
    is_set = sum(not word.plain.startswith("-") for word in rest) > 1
    reads = texts & (_READING_CONFIG | {"--get-urlmatch"})
    if reads or not (is_set or texts & _SETTING_CONFIG):
        return ""
    if _has_short(texts, "--global"):
        return "~/.gitconfig"
    return "/etc/gitconfig" if _has_short(texts, "--system") else ""


def _has_short(texts: Iterable[str], option: str) -> bool:
    """Is an option of git given, maybe shortened?"""
    return any(len(text) > 3 and option.startswith(text) for text in texts)


_CHECKS = names("--stat --numstat --summary --check --cached --show-current-patch")
_RESETS = names("--hard --merge --keep --recurse-submodules")


def creates(words: Sequence[str]) -> Creates | None:
    """Return what git may put into the work tree."""
    if not words:
        return None
    subcommand, rest = words[0], words[1:]
    if subcommand == "clone" or (subcommand == "worktree" and "add" in rest[:1]):
        return Creates.UNPACK
    known = _known(subcommand)
    if not known.changes_tree or (rest[:1] and rest[0] in names(known.leaves_tree)):
        return None
    return None if _leaves_files(subcommand, rest) else Creates.TREE


def _leaves_files(subcommand: str, rest: Sequence[str]) -> bool:
    match subcommand:
        case "apply":
            return not _CHECKS.isdisjoint(rest) and not _has(rest, names("--apply"))
        case "reset":
            return not _has(rest, _RESETS)
        case "checkout" | "switch":
            return _only_names_a_branch(rest)
        case _:
            return False


def _has(words: Sequence[str], options: frozenset[str]) -> bool:
    """Is one of the long options given, shortened or not?"""
    given = [word for word in words if word.startswith("--") and len(word) > 2]
    return any(option.startswith(word) for word in given for option in options)


def _only_names_a_branch(words: Sequence[str]) -> bool:
    """Is it `checkout -b name`, which leaves every file as it is?"""
    makes_one = any(word in ("-b", "-c", "--create") for word in words)
    return makes_one and sum(not word.startswith("-") for word in words) == 1


# What a rule or a mode may allow.

_RISKY_OPTIONS = names("-c --config-env --exec-path")
_HARMLESS_KEYS = (
    *("user.name", "user.email", "color.", "advice.", "init.defaultbranch", "pull.rebase"),
    *("push.default", "push.autosetupremote", "fetch.prune", "rebase.autostash", "core.autocrlf"),
)
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
    if known.starts_program:
        return f"git {subcommand} runs a program"
    for word in _words_at_risk(subcommand, rest):
        if risk := _word_risk(subcommand, known, word):
            return risk
    return _config_risk(rest) if subcommand == "config" else ""


def _words_at_risk(subcommand: str, rest: Sequence[Word]) -> Iterator[Word]:
    """Yield the words up to `--` that are no values."""
    # Elsewhere `-n` and `-S` are switches, and what follows them is a word of its own.
    valued = _LOG_VALUED if subcommand in ("log", "show", "whatchanged") else frozenset[str]()
    before = ""
    for word in rest:
        text = word.plain
        is_value = before in valued and not word.splits and not text.startswith("-")
        before = text
        if text == "--":
            return
        if not is_value:
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


def _config_risk(rest: Sequence[Word]) -> str:
    if any(word.text in ("-e", "--edit", "edit") for word in rest[:3]):
        return "git config --edit starts an editor"
    operands = split_arguments(rest, valued="f").operands
    if any(word.text in _READING_CONFIG for word in rest) or len(operands) < 2:
        return ""
    is_harmless = operands[0].text.lower().startswith(_HARMLESS_KEYS)
    return "" if is_harmless else "git config can set programs that git runs"


_READING_OPTIONS = ("-C", "--no-pager", "--no-optional-locks", "-P")
_DRY_RUN = re.compile(r"-[ndxXfq]+|--dry-run")


def reads_only(words: Sequence[Word]) -> bool:
    """Does git provably only read, if nothing risky is among its words?"""
    found, subcommand, rest = git_parts(words)
    if any(option.name not in _READING_OPTIONS for option in found.options):
        return False
    listed = _known(subcommand).read_only
    if listed is None or any(word.splits for word in rest):
        return False
    plain = [word.plain for word in rest]
    return listed == "*" or _is_listing(subcommand, plain, names(listed))


_LISTING = names("--list -l --contains --merged --no-merged --points-at -n")


def _is_listing(subcommand: str, plain: Sequence[str], options: frozenset[str]) -> bool:
    """Do its words, `options` and operands, make a subcommand that may write only list?"""
    if subcommand == "clean":
        # `-f` beside `-n` deletes nothing.
        return "n" in "".join(plain) and all(map(_DRY_RUN.fullmatch, plain))
    if subcommand in ("stash", "worktree", "remote", "reflog") and plain:
        return _lists(subcommand, plain, options)
    if subcommand in ("stash", "worktree"):
        return False
    return _has_listing_words(subcommand, plain, options)


def _has_listing_words(subcommand: str, plain: Sequence[str], options: frozenset[str]) -> bool:
    given = {text.partition("=")[0] for text in plain if text.startswith("-")}
    operands = [text for text in plain if not text.startswith("-")]
    if not given <= options:
        return False
    if subcommand == "config":
        is_key = len(operands) == 1 and "." in operands[0]
        return is_key or not _READING_CONFIG.isdisjoint(plain)
    return subcommand not in ("branch", "tag") or not operands or not given.isdisjoint(_LISTING)


def _lists(subcommand: str, plain: Sequence[str], options: frozenset[str]) -> bool:
    """Does a subcommand of its own only list?"""
    first = plain[0]
    given = {text for text in plain if text.startswith("-")}
    if subcommand == "remote" and first in ("-v", "--verbose"):
        # A subcommand may still follow.
        return len(plain) == 1
    if subcommand == "remote" and first == "show" and len(plain) > 1 and "-n" not in plain:
        # It asks the other side.
        return False
    return first in options and given <= options and (first not in given or subcommand == "reflog")


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


_SUBCOMMANDS = {
    name: one
    for one in (
        Subcommand("status rev-parse ls-tree describe check-ignore check-attr merge-base name-rev "
            "for-each-ref show-ref count-objects", reads_place=True, read_only="*"),
        Subcommand("diff", reads_place=True, output_options="--output", risky="--ext-diff --output "
            "--textconv", read_only="*", files=_compared),
        Subcommand("show log whatchanged", reads_place=True, output_options="--output",
            risky="--ext-diff --output --textconv", read_only="*"),
        Subcommand("shortlog rev-list diff-tree diff-index diff-files range-diff cherry",
            reads_place=True, risky="--ext-diff --output --textconv", read_only="*"),
        Subcommand("ls-files", reads_place=True, input_options="-X --exclude-from", read_only="*"),
        Subcommand("blame", reads_place=True, input_options="-S --contents --ignore-revs-file",
            risky="--ext-diff --output --textconv", read_only="*"),
        Subcommand("cat-file", reads_place=True, risky="--filters --textconv", read_only="*"),
        Subcommand("grep", reads_place=True, input_options="-f", risky="-O --open-files-in-pager "
            "--textconv", read_only="*", files=_compared),
        Subcommand("branch", read_only="-a --all --color --contains --format -l --list --merged "
            "--no-color --no-merged -r --remotes --show-current --sort -v --verbose -vv"),
        Subcommand("tag", input_options="-F --file", read_only="--contains --format -l --list -n "
            "--points-at --sort"),
        Subcommand("remote", read_only="get-url -n show -v --verbose"),
        Subcommand("stash", output_options="--output", risky="--ext-diff --output --textconv",
            read_only="list -p show --stat", changes_tree=True, leaves_tree="clear create drop "
            "list show store", files=_outside_tree),
        Subcommand("config", output_options="-f --file", read_only="--get get --get-all "
            "--get-regexp --global -l --list list --local --show-origin"),
        Subcommand("worktree", read_only="list --porcelain", files=_work_trees),
        Subcommand("reflog", risky="--ext-diff --output --textconv", read_only="-n show"),
        Subcommand("clean", read_only="", files=_outside_tree),
        Subcommand("annotate", reads_place=True, risky="--ext-diff --output --textconv"),
        Subcommand("help var version", reads_place=True),
        Subcommand("format-patch", output_options="-o --output --output-directory",
            risky="--ext-diff -o --output --output-directory --textconv"),
        Subcommand("rebase", risky="--exec -x", changes_tree=True),
        Subcommand("clone", output_options="--separate-git-dir", risky="-c --config --template -u "
            "--upload-pack", files=_cloned),
        Subcommand("fetch", risky="--upload-pack"),
        Subcommand("pull", risky="--upload-pack", changes_tree=True),
        Subcommand("push", risky="--exec --receive-pack"),
        Subcommand("ls-remote fetch-pack", risky="--exec --upload-pack"),
        Subcommand("archive", output_options="-o --output", risky="--exec -o --output"),
        Subcommand("init", output_options="--separate-git-dir", risky="--template",
            files=_initialized),
        Subcommand("difftool", output_options="--output", risky="--extcmd -x"),
        Subcommand("filter-branch", risky="--commit-filter --env-filter --index-filter "
            "--msg-filter --parent-filter --setup --subdirectory-filter --tag-name-filter "
            "--tree-filter", changes_tree=True),
        Subcommand("bundle", files=_bundled),
        Subcommand("commit notes", input_options="-F --file"),
        Subcommand("apply", input_options="--include-from", risky="--unsafe-paths",
            changes_tree=True, files=_applied),
        Subcommand("send-email", risky="--cc-cmd --sendmail-cmd --smtp-server --to-cmd"),
        Subcommand("checkout-index", output_options="--prefix", changes_tree=True),
        Subcommand("bugreport diagnose", output_options="-o --output-directory"),
        Subcommand("index-pack mailsplit", output_options="-o"),
        Subcommand("fast-export", output_options="--export-marks"),
        Subcommand("fast-import", output_options="--export-marks --export-pack-edges"),
        Subcommand("credential-store", output_options="--file"),
        Subcommand("merge", input_options="-F --file", changes_tree=True),
        Subcommand("am cherry-pick filter-repo p4 read-tree revert subtree svn switch",
            changes_tree=True),
        Subcommand("bisect", runs="run", changes_tree=True, leaves_tree="log view"),
        Subcommand("checkout restore", changes_tree=True, files=_restored),
        Subcommand("lfs", changes_tree=True, leaves_tree="env locks ls-files status track untrack"),
        Subcommand("mv", changes_tree=True, files=_removed),
        Subcommand("reset", changes_tree=True, files=_outside_tree),
        Subcommand("sparse-checkout", changes_tree=True, leaves_tree="list"),
        Subcommand("submodule", runs="foreach", changes_tree=True, leaves_tree="foreach init "
            "status summary"),
        Subcommand("for-each-repo instaweb merge-index shell web--browse", starts_program=True),
        Subcommand("pack-objects", files=_packed),
        Subcommand("rm", files=_removed),
        Subcommand("interpret-trailers", files=_trailers),
        Subcommand("merge-file", files=_first),
        Subcommand("mailinfo", files=_first_two),
    )
    for name in one.names.split()
}  # fmt: skip


PROGRAMS = (
    Program("git", accesses=git, reads_after={"stash show": 0, "stash push": 0, "add": 0, "diff": 0,
        "log": 0, "show": 0, "blame": 0, "annotate": 0, "grep": 0, "hash-object": 0, "cat-file": 0,
        "archive": 0, "whatchanged": 0}, changes_settings=changes_settings, risk_check=git_risk,
        read_only=reads_only, shows_version=True, creates=creates, command_options="-O -c --exec "
        "--open-files-in-pager --receive-pack --upload-pack", global_valued="cC", commands=commands,
        command_words=configured_commands, network="clone fetch ls-remote pull push remote "
        "submodule", logs_in=True, discards={"reset": "--hard", "clean": "", "checkout": "--",
        "restore": "", "stash": "drop clear", "branch": "-D", "push": "--force -f "
        "--force-with-lease --delete --mirror", "rebase": "", "filter-branch": ""},
        has_subcommands=True, exact_subcommands="bisect branch checkout clean config filter-branch "
        "rebase remote reset restore rm stash submodule tag update-ref worktree"),
)  # fmt: skip
