"""Paths that a command reads but the sandbox hides: `ls ~/.ssh` prints nothing and succeeds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.sandbox.policy import SandboxPolicy
from agent.sandbox.refusals import Refusal, RefusalKind
from permissions.shell.access import AccessKind
from permissions.shell.analyze import analyze
from permissions.shell.syntax import HOME_MARK, Unparsable, Word


def masked_reads(policy: SandboxPolicy, command: str, cwd: Path, home: Path) -> Sequence[Refusal]:
    """Return the masked files and directories among what a command reads, each once."""
    paths = dict.fromkeys(_read_paths(command, str(cwd), str(home)))
    rules = ((path, policy.read_refusal(path)) for path in paths)
    return [Refusal(RefusalKind.READ, path, rule) for path, rule in rules if rule is not None]


def _read_paths(command: str, cwd: str, home: str) -> Iterator[str]:
    parts = analyze(command, cwd, home)
    for facts in () if isinstance(parts, Unparsable) else parts:
        for access in facts.accesses:
            if access.kind is AccessKind.READ and (text := _literal_text(access.path, home)):
                yield os.path.realpath(os.path.join(cwd, text))


def _literal_text(word: Word, home: str) -> str:
    text = word.text
    if text.startswith(HOME_MARK):
        text = home + text[len(HOME_MARK) :]
    return text if Word(word.raw, text).is_literal else ""
