"""Rules written into settings files: atomically, under a lock, everything else in the file kept.

The file is read again under the lock, so another writer's change is never dropped; what was written
is read back, so a rule that is said to be stored is stored.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from permissions.rule import RuleBehavior


class StoreError(OSError):
    """The settings file cannot be changed; says which one and why. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class StoreReceipt:
    """What a change did."""

    file: Path
    changed: tuple[str, ...]
    """Rules that were added or removed; empty when there was nothing to do."""
    created: bool = False
    """Whether the file is new."""


def store_rules(file: Path, behavior: RuleBehavior, rules: Sequence[str]) -> StoreReceipt:
    """Add rules to a settings file, making it (0600, in a 0700 folder) where there is none.

    Raises:
        StoreError: the file is no JSON object, or cannot be written.
    """
    return _change(file, behavior, rules, add=True)


def remove_rules(file: Path, behavior: RuleBehavior, rules: Sequence[str]) -> StoreReceipt:
    """Take rules out of a settings file. Raises StoreError."""
    return _change(file, behavior, rules, add=False)


def _change(file: Path, behavior: RuleBehavior, rules: Sequence[str], *, add: bool) -> StoreReceipt:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(file):
            before = file.read_text("utf-8") if file.exists() else None
            data = _object(file, before)
            entries = _entries(file, data, behavior)
            changed = _apply(entries, rules, add=add)
            if not changed:
                return StoreReceipt(file, ())
            _write(file, json.dumps(data, indent=_indent(before), ensure_ascii=False) + "\n")
            _read_back(file, behavior, changed, present=add)
            return StoreReceipt(file, tuple(changed), created=before is None)
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}") from error


def _apply(entries: list[Any], rules: Sequence[str], *, add: bool) -> list[str]:
    known = {_rule_text(entry) for entry in entries}
    if add:
        new = [rule for rule in dict.fromkeys(rules) if rule not in known]
        entries.extend(new)
        return new
    gone = [rule for rule in rules if rule in known]
    entries[:] = [entry for entry in entries if _rule_text(entry) not in gone]
    return gone


def _rule_text(entry: object) -> object:
    """Return the rule of an entry; rules with examples are objects."""
    return entry.get("rule") if isinstance(entry, dict) else entry


def _object(file: Path, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        data = json.loads(text)
    except ValueError as error:
        raise StoreError(f"{file} is not valid JSON ({error}); mend it first") from error
    if not isinstance(data, dict):
        raise StoreError(f"{file} does not hold a JSON object; mend it first")
    return data


def _entries(file: Path, data: dict[str, Any], behavior: RuleBehavior) -> list[Any]:
    section = data.setdefault("permissions", {})
    if not isinstance(section, dict):
        raise StoreError(f"{file}: `permissions` is not an object; mend it first")
    entries = section.setdefault(str(behavior), [])
    if not isinstance(entries, list):
        raise StoreError(f"{file}: `permissions.{behavior}` is not a list; mend it first")
    return entries


def _read_back(file: Path, behavior: RuleBehavior, rules: Sequence[str], *, present: bool) -> None:
    data = json.loads(file.read_text("utf-8"))
    texts = {_rule_text(entry) for entry in data["permissions"][str(behavior)]}
    if any((rule in texts) is not present for rule in rules):
        raise StoreError(f"{file}: the change did not reach the file")


def _indent(text: str | None) -> int | str:
    for line in (text or "").splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return "\t" if space.startswith("\t") else len(space)
    return 2


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    # The folder itself is locked: a lock file would have to be left behind, or raced for.
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(file: Path, text: str) -> None:
    target = file.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
