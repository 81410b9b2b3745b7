"""Settings, rules, mode and user together decide about a host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.permission_config.permission_context import Grants, permission_setup
from agent.sandbox.configuration.sandbox_settings import CurrentSandboxSettings
from agent.sandbox.configuration.session_hosts import SessionHosts
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostAnswer, HostRequest
from agent.sandbox.network.host_name import read_host
from agent.settings.load import CliSettings, Settings, load_settings
from permissions.mode import Mode
from permissions.rule import RuleSet, RuleText

CALL = NetworkCall("toolu_1", "npm install")


class Session:
    """The parts of a session that decide about hosts, on real settings files."""

    def __init__(self, root: Path, settings: str = "{}", answer: HostAnswer | None = None) -> None:
        self.project = root / "project"
        (self.project / ".git").mkdir(parents=True)
        self.settings = load_settings(
            launch_dir=self.project,
            home=root / "home",
            agent_home=root / "home" / ".agent",
            cli=CliSettings(settings=settings),
            policy_dir=root / "etc",
        )
        self.context = permission_setup(self.settings, bypass_available=False).context
        self.asked: list[HostRequest] = []
        self.notes: list[str] = []
        self._answer = answer
        self.grants = Grants(self.read_settings, self.add_rules)
        ask = None if answer is None else self.ask
        self.hosts = SessionHosts(
            CurrentSandboxSettings(self.read_settings),
            lambda: self.context,
            ask,
            self.grants.store,
            self.notes.append,
        )
        self.gate = self.hosts.gate()

    def read_settings(self) -> Settings:
        return self.settings

    def add_rules(self, rules: Sequence[RuleText]) -> None:
        known, _ = RuleSet.build((*self.settings.rules, *rules))
        self.context = self.context.with_rules(known)

    async def ask(self, request: HostRequest) -> HostAnswer:
        self.asked.append(request)
        assert self._answer is not None
        return self._answer

    async def decide(self, host: str, port: int = 443) -> str:
        return (await self.gate.decide(read_host(host), port, CALL)).code


ALWAYS = HostAnswer(True, always=True)


async def test_an_always_is_stored_in_the_local_settings_and_counts_at_once(tmp_path: Path) -> None:
    session = Session(tmp_path, answer=ALWAYS)
    assert await session.decide("registry.example") == "user"
    stored = session.project / ".agent" / "settings.local.json"
    assert "WebFetch(domain:registry.example)" in stored.read_text()
    assert [rule.text for rule in session.hosts.rules().allow] == [
        "WebFetch(domain:registry.example)"
    ]
    assert await session.decide("registry.example", 80) == "rule"
    assert len(session.asked) == 1


async def test_a_yes_for_the_session_stores_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path, answer=HostAnswer(True))
    assert await session.decide("registry.example") == "user"
    assert await session.decide("registry.example") == "grant"
    assert not (session.project / ".agent").exists()


async def test_what_cannot_be_stored_counts_for_the_session(tmp_path: Path) -> None:
    session = Session(tmp_path, answer=ALWAYS)
    (session.project / ".agent").write_text("in the way")
    assert await session.decide("registry.example") == "user"
    assert await session.decide("registry.example") == "grant"
    assert len(session.notes) == 1
    assert "could not be stored" in session.notes[0]


@pytest.mark.parametrize("port", [443, 8443])
async def test_settings_allow_and_deny(tmp_path: Path, port: int) -> None:
    text = """{"sandbox": {"network": {"allowedDomains": ["*.example:*"],
                                       "deniedDomains": ["bad.example"]}}}"""
    session = Session(tmp_path, text)
    assert await session.decide("good.example", port) == "rule"
    assert await session.decide("bad.example", port) == "blocked-by-denylist"
    assert await session.decide("other.test", port) == "blocked-by-allowlist"


async def test_no_one_is_asked_in_dont_ask_or_with_a_strict_list(tmp_path: Path) -> None:
    session = Session(tmp_path / "a", answer=ALWAYS)
    session.context = session.context.with_mode(Mode.DONT_ASK)
    assert await session.decide("new.example") == "blocked-by-allowlist"
    strict = Session(tmp_path / "b", '{"sandbox": {"network": {"strictAllowlist": true}}}', ALWAYS)
    assert await strict.decide("new.example") == "blocked-by-allowlist"
    assert session.asked == strict.asked == []
    session.context = session.context.with_mode(Mode.DEFAULT)
    assert await session.decide("new.example") == "user"


async def test_settings_that_are_read_again_count_at_once(tmp_path: Path) -> None:
    session = Session(tmp_path, '{"sandbox": {"network": {"allowedDomains": ["a.example"]}}}')
    assert await session.decide("a.example") == "rule"
    session.settings = replace(session.settings, sandbox_files=())
    assert await session.decide("a.example") == "blocked-by-allowlist"
