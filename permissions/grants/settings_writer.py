"""Writes rules into settings files: atomically, under a lock, the rest of the file unchanged.

The file is read again under the lock, so another writer's change is never dropped; what was written
is read back, so a rule that is reported as stored is stored.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.files.plain_file import read_plain
from permissions.base.files.private_file import write_private
from permissions.rule import RuleBehavior


class StoreError(OSError):
    """The settings file cannot be changed; the message names it and the reason. It is unchanged."""


class StoreReceipt(Struct, frozen=True):
    """What a change did; `undo` reverts it."""

    file: Path
    changed_rules: tuple[str, ...]
    """Rules that were added or removed; empty when there was nothing to do."""
    behavior: RuleBehavior = RuleBehavior.ALLOW
    old_entries: tuple[Any, ...] = ()
    """The entries of the list as they were, rules with examples included."""
    new_entries: tuple[Any, ...] = ()
    """The entries as they were written."""


Edit = Callable[[list[Any]], list[str]]
"""Changes a list of entries in place and returns the rules that it added or removed."""


def store_rules(
    file: Path, behavior: RuleBehavior, rules: Sequence[str], *, within: Path | None = None
) -> StoreReceipt:
    """Add rules to a settings file, creating it (0600, in a 0700 directory) if there is none.

    Args:
        within: Directory that must contain the file, links resolved; None writes through any link.

    Raises:
        StoreError: the file is not a JSON object, is write-protected, or cannot be written.
    """

    def add(entries: list[Any]) -> list[str]:
        old_rules = {_rule_text(entry) for entry in entries}
        new = [rule for rule in dict.fromkeys(rules) if rule not in old_rules]
        entries.extend(new)
        return new

    return _change(file, behavior, add, within)


def remove_rules(
    file: Path, behavior: RuleBehavior, rules: Sequence[str], *, within: Path | None = None
) -> StoreReceipt:
    """Remove rules from a settings file, wherever they are in it. Raises as `store_rules`."""

    def remove(entries: list[Any]) -> list[str]:
        old_rules = {_rule_text(entry) for entry in entries}
        removed_rules = [rule for rule in dict.fromkeys(rules) if rule in old_rules]
        entries[:] = [entry for entry in entries if _rule_text(entry) not in removed_rules]
        return removed_rules

    return _change(file, behavior, remove, within)


def replace_rule(
    file: Path, behavior: RuleBehavior, old: str, new: str, *, within: Path | None = None
) -> StoreReceipt:
    """Replace one rule by another; the examples of the old one are dropped.

    Raises:
        StoreError: as `store_rules`; also when the old rule is not there any more.
    """

    def swap(entries: list[Any]) -> list[str]:
        texts = [_rule_text(entry) for entry in entries]
        if old not in texts:
            raise StoreError(f"{file} has no {behavior} rule {old!r} any more")
        entries[texts.index(old)] = new
        return [new]

    return _change(file, behavior, swap, within)


def undo(receipt: StoreReceipt, *, within: Path | None = None) -> StoreReceipt:
    """Revert a change, restoring the positions of rules; changes by others are kept.

    Raises:
        StoreError: as `store_rules`.
    """

    def revert(entries: list[Any]) -> list[str]:
        added_entries = [entry for entry in receipt.new_entries if entry not in receipt.old_entries]
        removed_entries = [
            entry for entry in receipt.old_entries if entry not in receipt.new_entries
        ]
        entries[:] = [entry for entry in entries if entry not in added_entries]
        for entry in removed_entries:
            if entry not in entries:
                entries.insert(min(receipt.old_entries.index(entry), len(entries)), entry)
        return [
            text
            for entry in (*added_entries, *removed_entries)
            if (text := _rule_text(entry)) is not None
        ]

    return _change(receipt.file, receipt.behavior, revert, within)


def _change(file: Path, behavior: RuleBehavior, edit: Edit, within: Path | None) -> StoreReceipt:
    try:
        target = _target(file, within)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _lock(target):
            text = _text(file, target)
            data = _object(file, text)
            entries = _entries(file, data, behavior)
            old_entries = tuple(entries)
            changed_rules = edit(entries)
            if not changed_rules or old_entries == tuple(entries):
                return StoreReceipt(
                    file, (), behavior=behavior, old_entries=old_entries, new_entries=old_entries
                )
            mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
            write_private(target, _encode_json(data, _indent(text)), mode=mode)
            _read_back(file, target, behavior, entries)
            receipt = StoreReceipt(file, tuple(changed_rules), behavior, old_entries)
            return replace(receipt, new_entries=tuple(entries))
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}") from error


def _target(file: Path, within: Path | None) -> Path:
    """Return the file to write, links resolved, but never outside of `within`."""
    target = Path(os.path.realpath(file))
    if target.is_symlink():
        raise StoreError(f"{file} is a link that leads back to itself")
    if within is not None and not target.is_relative_to(os.path.realpath(within)):
        # A repository could point its file at the user's own settings, or anywhere else.
        raise StoreError(f"{file} is a link to {target}, which is outside of {within}")
    return target


def _text(file: Path, target: Path) -> str | None:
    """Return what the file contains now, None when there is none."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise StoreError(f"{file} is not a regular file")
    if not mode & 0o222:
        # Replacing it would work anyway, but somebody protected it on purpose.
        raise StoreError(f"{file} is write-protected")
    try:
        return read_plain(target).decode("utf-8")
    except UnicodeDecodeError as error:
        raise StoreError(f"{file} is not UTF-8 text; fix it first") from error


def _rule_text(entry: object) -> str | None:
    """Return the rule of an entry, or None if it has none; rules with examples are objects."""
    text = entry.get("rule") if isinstance(entry, dict) else entry
    return text if isinstance(text, str) else None


def _object(file: Path, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            # Writing it back would drop one of the two.
            raise StoreError(f"{file} has the key {twice!r} twice; fix it first")
        return result

    try:
        data = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{file} is not valid JSON ({error}); fix it first") from error
    if not isinstance(data, dict):
        raise StoreError(f"{file} does not hold a JSON object; fix it first")
    return data


def _entries(file: Path, data: dict[str, Any], behavior: RuleBehavior) -> list[Any]:
    section = data.setdefault("permissions", {})
    if not isinstance(section, dict):
        raise StoreError(f"{file}: `permissions` is not an object; fix it first")
    entries = section.setdefault(str(behavior), [])
    if not isinstance(entries, list):
        raise StoreError(f"{file}: `permissions.{behavior}` is not a list; fix it first")
    return entries


def _read_back(file: Path, target: Path, behavior: RuleBehavior, entries: list[Any]) -> None:
    data = json.loads(target.read_text("utf-8"))
    if data["permissions"][str(behavior)] != entries:
        raise StoreError(f"{file}: the change did not reach the file")


def _encode_json(data: dict[str, Any], indent: int | str) -> bytes:
    try:
        return (json.dumps(data, indent=indent, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate can only be written as an escape.
        return (json.dumps(data, indent=indent) + "\n").encode("ascii")


def _indent(text: str | None) -> int | str:
    for line in (text or "").splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return "\t" if space.startswith("\t") else len(space)
    return 2


@contextmanager
def _lock(target: Path) -> Iterator[None]:
    # The directory itself is locked: a lock file would have to stay, or be removed in a race.
    directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)
