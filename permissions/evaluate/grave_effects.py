"""The gravest effects of a command, in words: secrets read, downloads run, history rewritten.

Shown with the question, never used for a decision: unrecognized effects are not listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from permissions.base.text.late_pattern import compile_late
from permissions.shell.access import AccessKind, names
from permissions.shell.command_facts import CommandFacts
from permissions.shell.programs.registry import program_named
from permissions.shell.syntax import RedirectKind, Word

PRIVATE_KEY, SECRETS = "reads a private key:", "reads secrets:"
RUNS_DOWNLOAD, REWRITES = "runs what it downloads:", "rewrites history:"
GRAVE_LABELS = (PRIVATE_KEY, SECRETS, RUNS_DOWNLOAD, REWRITES)
"""The gravest first."""

_KEY_NAME = compile_late(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|.*\.(?:pem|key|p12|pfx|jks|ppk)")
_SECRET_NAME = compile_late(
    r"\.env(?:\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.pgpass|\.git-credentials"
    r"|\.pypirc|credentials(?:\.json)?|secrets?\.(?:ya?ml|json|toml)|shadow"
)
_DOWNLOADERS = names("curl wget http https xh aria2c fetch")
_FORCES = names("--force -f --force-with-lease --mirror --delete -d --force-if-includes")
_READS = (AccessKind.READ, AccessKind.MENTIONED, AccessKind.SENT)


def grave_effects(facts: Sequence[CommandFacts]) -> Iterator[tuple[str, str]]:
    """Yield the grave effects of a call, each with its label; `facts` include inner commands."""
    for one in facts:
        yield from _secrets(one)
        yield from _rewrites(one)
    yield from _downloads(facts)


def _secrets(facts: CommandFacts) -> Iterator[tuple[str, str]]:
    read = [access.path for access in facts.accesses if access.kind in _READS]
    read += [
        one.target
        for one in facts.redirects
        if one.kind is RedirectKind.READ and one.target is not None
    ]
    for word in read:
        if label := _secret_label(word.text):
            yield label, _word_text(word)


def secret_file(path: object) -> tuple[str, ...]:
    """Return the effect of reading this file, in words; () if it holds no secret."""
    label = _secret_label(path) if isinstance(path, str) else ""
    return (f"{label} {path}",) if label else ()


def _secret_label(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    if _KEY_NAME.fullmatch(name):
        return PRIVATE_KEY
    return SECRETS if _SECRET_NAME.fullmatch(name) else ""


def _word_text(word: Word) -> str:
    if re.search("[@<]", word.raw) and not re.search("[@<]", word.text):
        # `curl -d @file`, `-F name=@file`.
        return word.plain
    return word.raw if "'" not in word.raw and '"' not in word.raw else word.plain


def _rewrites(facts: CommandFacts) -> Iterator[tuple[str, str]]:
    for form in facts.deny_forms:
        if form.joined_text and form.head.rpartition("/")[2] == "git":
            verb, *rest = form.spaced_text.split()[1:] or [""]
            if _is_rewritten(verb, rest):
                yield REWRITES, f"git {verb}"


def _is_rewritten(verb: str, rest: Sequence[str]) -> bool:
    match verb:
        case "push":
            return not _FORCES.isdisjoint(word.partition("=")[0] for word in rest) or any(
                word.startswith("+") for word in rest
            )
        case "reset":
            commits = [word for word in rest if not word.startswith("-")]
            return "--hard" in rest and commits not in ([], ["HEAD"])
        case _:
            return verb in ("filter-branch", "filter-repo")


def _downloads(facts: Sequence[CommandFacts]) -> Iterator[tuple[str, str]]:
    """Yield the programs that fetch what a shell or an interpreter runs in the same call."""
    fetching = [one for one in facts if not _DOWNLOADERS.isdisjoint(_heads(one))]
    fetched_files = {path for one in fetching for path in _files(one, AccessKind.WRITE)}
    others = [one for one in facts if one not in fetching]
    if fetching and any(_runs_one_of(one, fetched_files) for one in others):
        yield from ((RUNS_DOWNLOAD, name) for one in fetching for name in sorted(_fetchers(one)))


def _files(facts: CommandFacts, kind: AccessKind) -> set[str]:
    paths = (access.path.text for access in facts.accesses if access.kind is kind)
    return {path.removeprefix("./") for path in paths}


def _runs_one_of(facts: CommandFacts, files: set[str]) -> bool:
    """Whether it runs one of the files, or its input."""
    if facts.takes_code or facts.unknown_reason:
        return True
    heads = {head.removeprefix("./") for head in (form.head for form in facts.deny_forms)}
    is_interpreter = any(
        program_named(head).is_shell or program_named(head).code is not None for head in heads
    )
    read = _files(facts, AccessKind.READ)
    return bool(heads & files) or (is_interpreter and bool(read & files))


def _heads(facts: CommandFacts) -> set[str]:
    return {form.head.rpartition("/")[2] for form in facts.deny_forms if form.joined_text}


def _fetchers(facts: CommandFacts) -> set[str]:
    return _heads(facts) & _DOWNLOADERS
