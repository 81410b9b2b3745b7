"""Program records of `find` and `fd`: where they search, what they delete and what they run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.access import HERE, Access, AccessKind, each, names
from permissions.shell.arguments import could_be_option, split_arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.program import Commands, Program, ReadOnly, Risk
from permissions.shell.programs.common_arguments import after_option, option_risk
from permissions.shell.programs.sed import sed_arguments
from permissions.shell.syntax import FOUND, GLOB_MARKS, SUPPLIED, Word

_EXEC = names("-exec -execdir -ok -okdir")


_BATCHES = names("-exec -execdir")
"""The actions that may pass many names at once."""


_REMOVERS = names("rm rmdir unlink")
"""Programs that remove a link, not its target."""


_READERS = names(
    "cat head tail wc grep egrep fgrep ls stat file md5sum sha1sum sha256sum awk sed echo basename "
    "dirname"
)


_OR = names("-o -or ,")


_NOT = names("! -not")


_FIND_MARKS = str.maketrans(GLOB_MARKS)


def exec_commands(words: Sequence[Word]) -> Iterator[tuple[Word, ...]]:
    """Yield the commands of `-exec` and similar actions, `{}` as written."""
    for start, end in exec_spans(words):
        if words[start + 1 : end]:
            yield tuple(words[start + 1 : end])


def exec_spans(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Yield the positions of each `-exec` or similar action and of the end of its command."""
    position = 0
    while position < len(words):
        start = position
        position += 1
        if words[start].text not in _EXEC:
            continue
        while position < len(words) and not _ends(words, start, position):
            position += 1
        yield start, position
        position += 1


def _ends(words: Sequence[Word], start: int, position: int) -> bool:
    """Return whether the command of `-exec` ends here. A plus ends it only after `{}`."""
    if words[position].text == ";":
        return True
    return (
        words[position].text == "+"
        and words[start].text in _BATCHES
        and position > start + 1
        and words[position - 1].text == "{}"
    )


def is_below_roots(words: Sequence[Word], command: Sequence[Word]) -> bool:
    """Return whether the command stays below find's roots with any name in place of `{}`."""
    if follows_links(words) or not command[0].is_literal:
        return False
    program = command[0].text
    if program in _REMOVERS or _edits_in_place(command):
        return True
    return program in _READERS and finds_files_only(words)


def follows_links(words: Sequence[Word]) -> bool:
    """Return whether find follows links."""
    return any(word.plain in ("-L", "-follow") for word in words)


def finds_files_only(words: Sequence[Word]) -> bool:
    """Return whether `-type f` is a condition for every file that commands run on."""
    first = next((start for start, _ in exec_spans(words)), len(words))
    outer = list(_outside_groups(words))
    return not any(words[position].plain in _OR for position in outer) and any(
        _is_file_test(words, position) for position in outer if position < first
    )


def _outside_groups(words: Sequence[Word]) -> Iterator[int]:
    """Yield the positions of words outside parentheses and commands."""
    inside = {position for start, end in exec_spans(words) for position in range(start, end)}
    depth = 0
    for position, word in enumerate(words):
        if position in inside:
            continue
        depth += (word.plain == "(") - (word.plain == ")")
        if depth == 0:
            yield position


def _is_file_test(words: Sequence[Word], position: int) -> bool:
    is_not = position > 0 and words[position - 1].plain in _NOT
    value = words[position + 1 : position + 2]
    return words[position].plain == "-type" and not is_not and bool(value) and value[0].text == "f"


def find(words: Sequence[Word]) -> list[Access]:
    """Return where find searches, and what it writes or deletes."""
    roots = roots_of(words)
    texts = [word.plain for word in words]
    changes = changes_found(words)
    kind = AccessKind.WRITE if changes else AccessKind.READ
    # Tests select what is changed; each root represents the files below it.
    results = each(kind, roots or [HERE])
    acts = changes or not _EXEC.isdisjoint(texts)
    if acts and "-files0-from" in texts:
        # A file contains the roots.
        roots = [Word("-files0-from", UNKNOWN)]
        results.extend(each(kind, roots))
    for position, text in enumerate(texts):
        value = words[position + 1 : position + 2]
        results.extend(_by_test(text, value))
        if acts and text in ("-name", "-iname") and texts[position - 1] not in _NOT:
            results.extend(_named_files(roots or [HERE], value, changes=changes))
    return results


def _by_test(test: str, value: Sequence[Word]) -> list[Access]:
    """Return the file that a test with a file as its value opens."""
    if test in _WRITING_TESTS:
        return each(AccessKind.WRITE, value)
    if test in _READING_TESTS or test.startswith("-newer"):
        return each(AccessKind.READ, value)
    return []


_WRITING_TESTS = names("-fprint -fprint0 -fprintf -fls")
_READING_TESTS = names("-samefile -files0-from")


def changes_found(words: Sequence[Word]) -> bool:
    """Return whether find deletes or edits what it finds, and stays below its roots."""
    return any(word.plain == "-delete" for word in words) or any(
        is_below_roots(words, one) and (one[0].text in _REMOVERS or _edits_in_place(one))
        for one in exec_commands(words)
    )


def roots_of(words: Sequence[Word]) -> list[Word]:
    """Return the root directories: after the first options, before the first test."""
    position = 0
    while position < len(words):
        text = words[position].plain
        if text not in ("-H", "-L", "-P", "-D", "--") and not text.startswith("-O"):
            break
        position += 2 if text == "-D" else 1
        if text == "--":
            break
    roots: list[Word] = []
    for word in words[position:]:
        if word.plain.startswith(("-", "(", "!", ",")):
            break
        roots.append(word)
    return roots


def _named_files(
    roots: Sequence[Word], value: Sequence[Word], *, changes: bool
) -> Iterator[Access]:
    """Yield accesses for the files of a name, so that rules about it apply."""
    for name in value:
        if not name.is_literal or "/" in name.text:
            continue
        pattern = name.text.translate(_FIND_MARKS)
        kind = AccessKind.WRITE if changes and pattern == name.text else AccessKind.MENTIONED
        for root in roots:
            yield Access(kind, Word(name.raw, f"{root.text}/{pattern}", root.splits))


def _edits_in_place(command: Sequence[Word]) -> bool:
    if command[0].text not in ("sed", "gsed"):
        return False
    arguments = sed_arguments(command[1:])
    return arguments.has("-i", "--in-place") and not arguments.has("--follow-symlinks")


_FIND_TESTS = names(
    "-name -iname -path -ipath -wholename -regex -iregex -type -size -mtime -atime -ctime -mmin "
    "-amin -cmin -newer -empty -maxdepth -mindepth -print -print0 -prune -not -and -or -a -o -perm "
    "-user -group -links -inum -printf -ls -xdev -mount -depth -follow -true -false -quit -H -L -P "
    "-readable -writable -executable -xtype -lname -regextype -samefile -daystart -noleaf"
)


def fd(words: Sequence[Word]) -> list[Access]:
    """Return where fd searches."""
    arguments = split_arguments(
        words, value_letters="edtExXSojC", value_options=names("--extension --max-depth")
    )
    return [
        *each(AccessKind.READ, arguments.operands[1:]),
        *each(AccessKind.READ, arguments.values("-C", "--base-directory")),
    ]


def looks_only(words: Sequence[Word]) -> bool:
    """Return whether find only searches, apart from the commands that it runs on what it finds."""
    spans = list(exec_spans(words))
    inside = {position for start, end in spans for position in range(start, end + 1)}
    for position, word in enumerate(words):
        if position in inside:
            continue
        if _may_be_test(word) or not _is_harmless(word.plain):
            return False
    return all(words[start].text == "-exec" and end < len(words) for start, end in spans)


def _may_be_test(word: Word) -> bool:
    """Return whether it may be a test or an action. Each word of a loop's list counts."""
    choices = [Word(one, one) for one in word.choices]
    if not choices:
        return could_be_option(word)
    return any(one.text.startswith("-") or could_be_option(one) for one in choices)


def _is_harmless(text: str) -> bool:
    # A number after -mtime and similar tests may also start with a dash.
    is_number = text[1:].rstrip("cwbkMGd").isdigit()
    return text in _FIND_TESTS or is_number or not text.startswith("-") or text[:6] == "-newer"


_RISK = Risk(
    long="-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls", single_dash=True
)


def find_risk(program: str, words: Sequence[Word]) -> str:
    """Return which test runs a program or changes files."""
    # After `--` come directories, and then tests and actions as usual.
    return option_risk(program, _RISK, [one for one in words if one.text != "--"])


def executed_commands(words: tuple[Word, ...]) -> Commands:
    """Return the commands of `-exec` and similar actions."""
    commands: list[tuple[Word, ...]] = []
    for command in exec_commands(words):
        file_word = FOUND if is_below_roots(words, command) else SUPPLIED
        commands.append(
            tuple(
                word if "{}" not in word.text else file_word if word.text == "{}" else SUPPLIED
                for word in command
            )
        )
    return commands, Texts()


PROGRAMS = (
    Program("find", accesses=find, risk_check=find_risk, follows_links="-L -follow",
        commands=executed_commands, exact_only=True),
    Program("fd", accesses=fd, risk=Risk("xX", "--exec --exec-batch", value_letters="edtESojc"),
        read_only=ReadOnly("HIusiglpLa01", "edtESc", "--absolute-path --case-sensitive --color "
        "--exclude --extension --follow --full-path --glob --hidden --ignore-case --max-depth "
        "--no-ignore --size --type --unrestricted"), follows_links="-L --dereference --follow",
        commands=after_option("-x -X --exec --exec-batch")),
    Program("fdfind", accesses=fd, risk=Risk("xX", "--exec --exec-batch", value_letters="edtESojc"),
        follows_links="-L --dereference --follow", commands=after_option("-x -X --exec "
        "--exec-batch")),
)  # fmt: skip
