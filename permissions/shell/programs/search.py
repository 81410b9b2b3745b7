"""What is known of programs that search in files."""

from __future__ import annotations

from collections.abc import Sequence

from permissions.shell.access import Access, AccessKind, each, names
from permissions.shell.arguments import (
    Arguments,
    split_arguments,
)
from permissions.shell.programs.program import (
    Program,
    ReadOnly,
    Risk,
)
from permissions.shell.syntax import (
    Word,
)

_GREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --include --exclude "
    "--exclude-dir --exclude-from --label --binary-files --directories --devices --group-separator"
)
"""`--color` takes its value behind `=` only."""


_RIPGREP_VALUED_LONG = names(
    "--regexp --file --max-count --after-context --before-context --context --color --colors "
    "--glob --iglob --type --type-not --type-add --type-clear --replace --max-depth --sort "
    "--sortr --threads --encoding --engine --max-columns --max-filesize --pre --pre-glob "
    "--ignore-file --context-separator --path-separator --field-match-separator"
)


def grep(words: Sequence[Word]) -> list[Access]:
    """Return what grep reads."""
    found = split_arguments(words, valued="efmABCdD", valued_long=_GREP_VALUED_LONG)
    return _searched(found)


def ripgrep(words: Sequence[Word]) -> list[Access]:
    """Return what ripgrep reads."""
    found = split_arguments(words, valued="efgtTmABCjMrdE", valued_long=_RIPGREP_VALUED_LONG)
    return _searched(found)


def searcher(words: Sequence[Word]) -> list[Access]:
    """Return what ag and ack read: many of their long options take no value."""
    return _searched(split_arguments(words, valued="ABCGgmp", valued_long=names("--pager")))


def _searched(found: Arguments) -> list[Access]:
    has_pattern = found.has("-e", "--regexp", "-f", "--file", "--files")
    operands = found.operands if has_pattern else found.operands[1:]
    return [
        *each(AccessKind.READ, found.values("-f", "--file", "--exclude-from", "--ignore-file")),
        *each(AccessKind.READ, operands),
    ]


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
        valued="efgtTmABCjMrdE"), read_only=ReadOnly("ivwxclLqsobHhnNSFUPu0a", "efgtTmABCjMrdE",
        "--after-context --before-context --color --colors --context --count --files "
        "--files-with-matches --fixed-strings --follow --glob --heading --hidden --iglob "
        "--ignore-case --invert-match --json --line-number --max-count --max-depth --multiline "
        "--no-filename --no-heading --no-ignore --no-line-number --only-matching --pcre2 --pretty "
        "--regexp --replace --smart-case --sort --sortr --stats --trim --type --type-list "
        "--type-not --vimgrep --with-filename --word-regexp"), follows_links="-L --dereference "
        "--follow", command_options="--pre"),
    Program("ag", accesses=searcher, risk=Risk("z", "--pager --search-zip", valued="ABCGgm"),
        follows_links="-L --dereference --follow", command_options="--pager"),
    Program("ack", accesses=searcher, risk=Risk(long="--pager", valued="ABCm")),
)  # fmt: skip
