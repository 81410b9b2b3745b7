"""Program records of programs that search in files and query them."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import Arguments, split_arguments
from permissions.shell.program import Program, ReadOnly, Risk
from permissions.shell.programs.common_arguments import reads
from permissions.shell.syntax import Word

_GREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --include --exclude "
    "--exclude-dir --exclude-from --label --binary-files --directories --devices --group-separator"
)
"""`--color` takes its value after `=` only."""


_RIPGREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --color --colors "
    "--glob --iglob --type --type-not --type-add --type-clear --replace --max-depth --sort "
    "--sortr --threads --encoding --engine --max-columns --max-filesize --pre --pre-glob "
    "--ignore-file --context-separator --path-separator --field-match-separator"
)


def grep(words: Sequence[Word]) -> list[Access]:
    """Return what grep reads."""
    arguments = split_arguments(words, value_letters="efmABCdD", value_options=_GREP_VALUED_LONG)
    return _search_accesses(arguments)


def ripgrep(words: Sequence[Word]) -> list[Access]:
    """Return what ripgrep reads."""
    arguments = split_arguments(
        words, value_letters="efgtTmABCjMrdE", value_options=_RIPGREP_VALUED_LONG
    )
    return _search_accesses(arguments)


def searcher(words: Sequence[Word]) -> list[Access]:
    """Return what ag and ack read: many of their long options take no value."""
    return _search_accesses(
        split_arguments(words, value_letters="ABCGgmp", value_options=names("--pager"))
    )


def _search_accesses(arguments: Arguments) -> list[Access]:
    has_pattern = arguments.has("-e", "--regexp", "-f", "--file", "--files")
    operands = arguments.operands if has_pattern else arguments.operands[1:]
    return [
        *each(AccessKind.READ, arguments.values("-f", "--file", "--exclude-from", "--ignore-file")),
        *each(AccessKind.READ, operands),
    ]


def json_query(words: Sequence[Word]) -> list[Access]:
    """Return what jq reads."""
    remaining: list[Word] = []
    results: list[Access] = []
    position = 0
    while position < len(words):
        text = words[position].plain
        if text in ("--arg", "--argjson"):
            position += 3
        elif text in ("--slurpfile", "--rawfile"):
            results.extend(each(AccessKind.READ, words[position + 2 : position + 3]))
            position += 3
        elif text in ("--args", "--jsonargs"):
            break
        else:
            remaining.append(words[position])
            position += 1
    arguments = split_arguments(
        remaining, value_letters="fL", value_options=names("--from-file --indent")
    )
    files = arguments.values("-f", "--from-file")
    operands = arguments.operands if files else arguments.operands[1:]
    return [*results, *each(AccessKind.READ, files), *each(AccessKind.READ, operands)]


def yaml_query(words: Sequence[Word]) -> list[Access]:
    """Return what yq reads or changes."""
    arguments = split_arguments(words, value_letters="oIps")
    kind = AccessKind.WRITE if arguments.has("-i", "--inplace", "--in-place") else AccessKind.READ
    operands = arguments.operands
    if operands and operands[0].text in ("eval", "eval-all", "e", "ea"):
        operands = operands[1:]
    return each(kind, operands[1:])


_JQ_READS = compile_late(r"\b(?:import|include|modulemeta)\b|\$ENV\b|(?<![.\w\"$])env\b")


_YQ_READS = compile_late(r"\bload(?:_\w+)?\s*\(|^-s|^--split-exp|^--from-file")


def plain_jq(words: Sequence[Word], _arguments: Arguments) -> bool:
    """Return whether the jq program cannot read other files."""
    return all(_JQ_READS.search(word.plain) is None for word in words)


def yq_risk(_program: str, words: Sequence[Word]) -> str:
    """Return the risk if an expression accesses other files; "" otherwise."""
    reaches = any(_YQ_READS.search(word.plain) for word in words)
    return "the yq expression reads or writes other files" if reaches else ""


PROGRAMS = (
    Program("grep", accesses=grep, read_only=ReadOnly("EFGPivwxcLlqsobHhnTUzraR0123456789",
        "efmABCdD", "--after-context --before-context --color --colour --context --count "
        "--dereference-recursive --exclude --exclude-dir --extended-regexp --files-with-matches "
        "--files-without-match --fixed-strings --ignore-case --include --invert-match "
        "--line-number --line-regexp --max-count --no-filename --no-messages --only-matching "
        "--perl-regexp --quiet --recursive --regexp --silent --text --with-filename --word-regexp"),
        follows_links="-R --dereference-recursive"),
    Program("egrep fgrep", accesses=grep, follows_links="-R --dereference-recursive"),
    Program("zgrep", accesses=grep),
    Program("rg", accesses=ripgrep, risk=Risk("z", "--hostname-bin --pre --search-zip",
        value_letters="efgtTmABCjMrdE"),
        read_only=ReadOnly("ivwxclLqsobHhnNSFUPu0a", "efgtTmABCjMrdE",
        "--after-context --before-context --color --colors --context --count --files "
        "--files-with-matches --fixed-strings --follow --glob --heading --hidden --iglob "
        "--ignore-case --invert-match --json --line-number --max-count --max-depth --multiline "
        "--no-filename --no-heading --no-ignore --no-line-number --only-matching --pcre2 --pretty "
        "--regexp --replace --smart-case --sort --sortr --stats --trim --type --type-list "
        "--type-not --vimgrep --with-filename --word-regexp"), follows_links="-L --dereference "
        "--follow", command_options="--pre"),
    Program("ag", accesses=searcher, risk=Risk("z", "--pager --search-zip", value_letters="ABCGgm"),
        follows_links="-L --dereference --follow", command_options="--pager"),
    Program("ack", accesses=searcher, risk=Risk(long="--pager", value_letters="ABCm")),
    Program("jq", accesses=json_query, read_only=ReadOnly("ceMrnsSajCR", "", "--arg --argjson "
        "--compact-output --exit-status --indent --join-output --null-input --raw-input "
        "--raw-output --rawfile --slurp --slurpfile --sort-keys --tab", check=plain_jq),
        shows_version=True),
    Program("yq", accesses=yaml_query,
        risk=Risk("i", "--in-place " "--inplace", value_letters="oIps"),
        risk_check=yq_risk),
    Program("json.tool", accesses=reads()),
)  # fmt: skip
