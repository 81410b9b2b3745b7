"""The classifier for machines that enforce little: a short list of exact commands.

The table of `permissions.shell.effects.read_only` knows far more, and its allows need `read_only`
to be enforced. Where it is not, or where another part of the command may write, only this counts
as reading: literal words, a short list of programs without options that run or write, pipes and
`&&`. Git runs in a few fixed forms, none of which shows a patch, since repositories may name
programs for that; the caller gives git a neutral configuration.
"""

from __future__ import annotations

from permissions.shell.access import names
from permissions.shell.command_facts import CommandFacts
from permissions.shell.parse.parse import parse
from permissions.shell.syntax import (
    AndOr,
    Isolated,
    Node,
    Redirect,
    RedirectKind,
    Script,
    Simple,
    Word,
)

_PROGRAMS = names(
    ": arch b2sum base64 basename break cat cd cksum cmp column comm continue cut date df diff "
    "dirname du echo egrep exit expand false fgrep fmt fold free grep head id join jq ls md5sum nl "
    "nproc od paste pwd readlink realpath return rev seq set sha1sum sha256sum sha512sum sleep "
    "stat tac tail time tr true type uname unexpand uniq uptime wait wc which whoami"
)
_GIT = {
    "branch": "|--merged|--show-current|-a|-r|-v|-vv",
    "describe": "--always|--tags",
    "diff": "--cached --name-only|--cached --stat|--name-only|--name-only HEAD|--staged --name-only"
    "|--staged --stat|--stat|--stat HEAD",
    "log": "|--graph --oneline --all|--oneline|--oneline --graph|--oneline --graph --all"
    "|--oneline --graph --decorate|--oneline -1|--oneline -10|--oneline -20|--oneline -3"
    "|--oneline -5|--stat|-1|-1 --stat|-3|-5|-10",
    "ls-files": "|-m|--others --exclude-standard",
    "rev-parse": "--abbrev-ref HEAD|--git-dir|--short HEAD|--show-toplevel|HEAD",
    "show": "--name-only HEAD|--stat HEAD",
    "status": "|--porcelain|--porcelain -b|--short|--short --branch|-s|-sb|-uno",
    "tag": "|-l",
}
"""By subcommand: the words after it."""
FORMS = frozenset(
    f"git {verb} {words}".rstrip() for verb, forms in _GIT.items() for words in forms.split("|")
) | frozenset(
    "git --version|git reflog|git remote -v|git shortlog -sn HEAD|git stash list|git worktree list"
    "|docker --version|hostname|java -version|make --version|node --version|node -v"
    "|python --version|python3 --version".split("|")
)
"""Exact commands."""
_EVALUATING = names("-eq -ne -lt -le -gt -ge -v -R")
"""Operators of a condition that may evaluate their operands."""


def is_small_reading(facts: CommandFacts, launch: str) -> bool:
    """Return whether a simple command is plain enough to be read-only without enforcement.

    Git only in the launch directory: another repository has its own settings.
    """
    if not (facts.is_read_only or facts.is_inert) or facts.inner or facts.unknown_reason:
        return False
    if not all(is_known_redirect(redirect) for redirect in facts.redirects):
        return False
    command = _only_command(parse(facts.text))
    if command is None or not _is_plain(command):
        return False
    return command.words[0].text != "git" or facts.directories == {launch}


def is_plain_structure(command: str) -> bool:
    """Return whether the text joins its commands with pipes and `&&` only."""
    script = parse(command)
    items = script.body.items if isinstance(script, Script) else ()
    return len(items) == 1 and _joins_plainly(items[0])


def is_known_redirect(redirect: Redirect) -> bool:
    """Return whether the target or text of a redirection is known; its file is checked
    separately."""
    word = redirect.target
    if word is None:
        return redirect.kind is not RedirectKind.TEXT or redirect.text is not None
    return not word.scripts and (bool(word.choices) or not word.is_unknown)


def _joins_plainly(node: Node) -> bool:
    if isinstance(node, AndOr):
        return node.is_and and _joins_plainly(node.first) and _joins_plainly(node.second)
    if isinstance(node, Isolated):
        are_simple = all(isinstance(one, Simple) for one in node.items)
        return not node.is_background and are_simple and all(map(_joins_plainly, node.items))
    return isinstance(node, Simple) and all(map(_opens_nothing, node.redirects))


def _only_command(script: object) -> Simple | None:
    items = script.body.items if isinstance(script, Script) else ()
    return items[0] if len(items) == 1 and isinstance(items[0], Simple) else None


def _opens_nothing(redirect: Redirect) -> bool:
    if redirect.kind is RedirectKind.DUPLICATE:
        return True
    return redirect.target is not None and redirect.target.raw == "/dev/null"


def _is_plain(command: Simple) -> bool:
    if command.assignments or not command.words or not all(map(_is_written_out, command.words)):
        return False
    texts = [word.text for word in command.words]
    if texts[0] in ("test", "[", "[["):
        return not any(text in _EVALUATING or "[" in text for text in texts[1:])
    return texts[0] in _PROGRAMS or " ".join(texts) in FORMS


def _is_written_out(word: Word) -> bool:
    is_known = word.is_literal and not word.splits
    return is_known and not word.scripts and not word.choices
