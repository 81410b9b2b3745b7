"""What a user granted for a session: rules, directories and hosts, recorded with each change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.session.records import GrantsRecord


class SessionGrants:
    """All of it, for a resume to bring back."""

    def __init__(self, granted: GrantsRecord, record: Callable[[GrantsRecord], None]) -> None:
        """`granted` is what a resumed session begins with; `record` writes the whole anew."""
        self._granted = granted
        self._record = record

    def set_rules(self, rules: Sequence[tuple[str, str]]) -> None:
        """Note all rules, as `(behavior, rule)`."""
        self._change(replace(self._granted, grants=tuple(rules)))

    def add_directory(self, path: str) -> None:
        """Note one more working directory, canonical."""
        directories = dict.fromkeys((*self._granted.directories, path))
        self._change(replace(self._granted, directories=tuple(directories)))

    def add_host(self, rule: str) -> None:
        """Note one more host, as in `sandbox.network.allowedDomains`."""
        hosts = dict.fromkeys((*self._granted.hosts, rule))
        self._change(replace(self._granted, hosts=tuple(hosts)))

    def _change(self, granted: GrantsRecord) -> None:
        if granted != self._granted:
            self._granted = granted
            self._record(granted)
