"""Each known program has one record, and what is not known has an empty one."""

from __future__ import annotations

from collections import Counter

from permissions.shell.access import names
from permissions.shell.program import Program
from permissions.shell.programs.registry import PROGRAMS, RECORDS, program_named


def test_no_program_has_two_records() -> None:
    counts = Counter(name for record in RECORDS for name in record.names.split())
    assert [name for name, count in counts.items() if count > 1] == []


def test_lists_of_options_hold_options() -> None:
    for name, record in PROGRAMS.items():
        assert all(one.startswith("-") for one in names(record.command_options)), name


def test_nothing_is_known_of_an_unknown_program() -> None:
    assert program_named("no-such-program") == Program("")
