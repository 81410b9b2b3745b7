"""What a user granted for a session: rules, directories and hosts, recorded with each change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.session.records import GrantsRecord


class SessionGrants:
    """All grants of a session, which a resume restores."""

    def __init__(self, grants: GrantsRecord, record: Callable[[GrantsRecord], None]) -> None:
        """`grants` are those of a resumed session; `record` writes the complete record."""
        self._grants = grants
        self._record = record

    def set_rules(self, rules: Sequence[tuple[str, str]]) -> None:
        """Note all rules, as `(behavior, rule)`."""
        self._change(replace(self._grants, grants=tuple(rules)))

    def add_directory(self, path: str) -> None:
        """Note one more working directory, canonical."""
        directories = dict.fromkeys((*self._grants.directories, path))
        self._change(replace(self._grants, directories=tuple(directories)))

    def add_host(self, rule: str) -> None:
        """Note one more host, as in `sandbox.network.allowedDomains`."""
        hosts = dict.fromkeys((*self._grants.hosts, rule))
        self._change(replace(self._grants, hosts=tuple(hosts)))

    def _change(self, grants: GrantsRecord) -> None:
        if grants != self._grants:
            self._grants = grants
            self._record(grants)
