"""What is known of `awk`, whose programs may write and run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import split_arguments
from permissions.shell.flow.nested_scripts import Texts
from permissions.shell.program import Code, Commands, Program, ReadOnly
from permissions.shell.syntax import Word

_VALUED_LONG = names("--file --assign --include --load --source --exec --field-separator")
_HARMLESS = names(
    "-F -v --field-separator --assign --posix --traditional --version --help --lint -b -n "
    "--characters-as-bytes --non-decimal-data --re-interval --sandbox"
)
"""Options with which a program stays what it is; whatever else is given is not understood."""


def awk(words: Sequence[Word]) -> list[Access]:
    """Return what awk reads or changes."""
    found = split_arguments(words, valued="FvfilE", valued_long=names("--file --assign --include"))
    files = found.values("-f", "--file")
    operands = found.operands if files else found.operands[1:]
    data = [word for word in operands if not re.match(r"[A-Za-z_]\w*=", word.text)]
    dumped = [Word(word.raw, word.text[2:]) for word in words if re.match(r"-[odpD].", word.plain)]
    programs = () if files else found.operands[:1]
    written = [Word(one.raw, path) for one in programs for path in _OUTPUT.findall(one.plain)]
    read = [Word(one.raw, path) for one in programs for path in _INPUT.findall(one.plain)]
    in_place = any(value.text.startswith("inplace") for value in found.values("-i", "--include"))
    return [
        *each(AccessKind.READ, [*files, *read]),
        *each(AccessKind.WRITE, [*written, *dumped]),
        *each(AccessKind.WRITE if in_place else AccessKind.READ, data),
    ]


_OUTPUT = re.compile(r'>>?\s*"([^"]+)"')
"""`print > "file"`"""
_INPUT = re.compile(r'\bgetline\b[^<;}\n"]*<\s*"([^"]+)"')
"""`getline line < "file"`"""


def awk_risk(_program: str, words: Sequence[Word]) -> str:
    """Return why awk may run commands or write files."""
    found = split_arguments(words, valued="FvfileEW", valued_long=_VALUED_LONG)
    for option in found.options:
        if option.name not in _HARMLESS:
            return f"awk {option.name} may run a program that is not shown, or write a file"
    if found.injectable:
        return "a word that is not known could be an option of awk"
    for script in found.operands[:1]:
        if not script.is_literal or not _only_calculates(script.text):
            return "the awk program may run commands or write files"
    return ""


_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<number>\d[\w.]*|\.\d\w*)|(?P<separator>[\n;{}])|(?P<open>[(\[])|(?P<close>[)\]])"""
    r"""|(?P<step>\+\+|--)|(?P<operator>\|\||&&|[-+*%^<>=!~?:,$&])|(?P<slash>/)""",
    re.ASCII,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?(?:[^\]/\\\n]|\\[^/\n])*\])+/")
_KEYWORDS = names("BEGIN END if else for while do in print printf next exit delete return function")
_FUNCTIONS = names(
    "length substr index split sub gsub match sprintf tolower toupper int rand srand sqrt exp log "
    "sin cos atan2 strftime systime mktime gensub asort asorti and or xor compl lshift rshift "
    "strtonum patsplit isarray typeof"
)
_FORBIDDEN = names(
    "system getline close fflush func nextfile ENVIRON PROCINFO ARGV ARGC SYMTAB FUNCTAB switch"
)
"""Names that run, write, read another file or the environment, or are not needed here."""


def _only_calculates(program: str) -> bool:
    """Does the program provably print and calculate only? Each of its tokens has to be known."""
    called = _KEYWORDS | _FUNCTIONS | set(re.findall(r"\bfunction[ \t]+(\w+)", program))
    depth, prints, before = 0, False, ""
    for text, kind, following in _tokens(program):
        depth += (kind == "open") - (kind == "close")
        if kind == "separator" and not (text == "\n" and before == "operator"):
            prints = False
        prints = prints or text in ("print", "printf")
        is_call = kind == "name" and following == "("
        is_redirection = prints and depth == 0 and text == ">"
        if not kind or text in _FORBIDDEN or is_redirection or (is_call and text not in called):
            return False
        before = kind
    return True


def _tokens(program: str) -> Iterator[tuple[str, str, str]]:
    """Yield each token with its kind, and the character behind it; no kind for what is unknown."""
    position, before, kind = 0, "", "separator"
    while position < len(program):
        match = _TOKEN.match(program, position)
        found = (match.lastgroup or "") if match is not None else ""
        end = match.end() if match is not None else None
        if found == "slash":
            end = _slash_end(program, position, before, kind)
            found = "operator" if end == position + 1 else "string"
        if end is None:
            yield "", "", ""
            return
        text = program[position:end]
        position = end
        if found != "blank":
            yield text, found, program[end : end + 1]
            before, kind = text, found


def _slash_end(program: str, position: int, before: str, kind: str) -> int | None:
    """Return where a regular expression, or a division, that begins here ends; None if unsure."""
    if kind in ("separator", "open", "operator") or before in _KEYWORDS:
        regex = _REGEX.match(program, position) if before != "$" else None
        return None if regex is None else regex.end()
    is_sure = kind in ("string", "number") or before == "]"
    is_sure = is_sure or (kind == "name" and before not in _FUNCTIONS)
    if is_sure or "/" not in program[position + 1 :]:
        return position + 1
    return None


_STARTS = re.compile(
    r"""system\s*\(\s*"([^"\\]+)"\s*\)|(?<!\|)\|&?\s*"([^"\\]+)"|"([^"\\]+)"\s*\|&?\s*getline"""
)


def started(words: tuple[Word, ...]) -> Commands:
    """Return the commands that an awk program starts, where they are written out."""
    texts = [text for word in words if '"' in word.text for text in _STARTS.findall(word.text)]
    return [], Texts(tuple(next(filter(None, groups)) for groups in texts))


PROGRAMS = (
    Program("awk", accesses=awk, code=Code.AWK, risk_check=awk_risk, read_only=ReadOnly("", "Fv"),
        commands=started, exact_only=True),
    Program("gawk mawk", accesses=awk, code=Code.AWK, risk_check=awk_risk, commands=started),
    Program("nawk", accesses=awk, code=Code.AWK, commands=started),
)  # fmt: skip
