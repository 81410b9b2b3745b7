"""What a user granted for a session: rules, directories and hosts, recorded with each change."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.session.records import GrantsRecord


class SessionGrants:
    """All of it, for a resume to bring back."""

    def __init__(self, grants: GrantsRecord, record: Callable[[GrantsRecord], None]) -> None:
        """`grants` is what a resumed session begins with; `record` writes the whole anew."""
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
