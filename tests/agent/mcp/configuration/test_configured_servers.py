"""Which servers are configured, of whom, and which may start."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent.mcp.configuration.configured_servers import (
    ConfiguredServers,
    ServerSources,
    configured_servers,
)
from agent.mcp.configuration.consent_store import ConsentStore
from agent.settings.load import CliSettings, Settings, load_settings
from agent.settings.trust import TrustStore

MCP = "project/.mcp.json"
PROJECT = "project/.agent/settings.json"
LOCAL = "project/.agent/settings.local.json"
USER = "home/.agent/settings.json"
POLICY = "etc/managed-settings.json"


@dataclass
class Place:
    """A home, a project and a managed directory."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("home", "project/.git", "etc"):
            (self.root / name).mkdir(parents=True)

    def write(self, name: str, content: object) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))

    def settings(self, **cli: Any) -> Settings:
        home = self.root / "home"
        return load_settings(
            launch_dir=self.root / "project",
            home=home,
            agent_home=home / ".agent",
            cli=CliSettings(**cli),
            policy_dir=self.root / "etc",
        )

    def load(
        self, *, strict: bool = False, plugins: tuple[Path, ...] = (), **cli: Any
    ) -> ConfiguredServers:
        sources = ServerSources(
            env=self.env, strict=strict, policy_dir=self.root / "etc", plugin_dirs=plugins
        )
        return configured_servers(self.settings(**cli), sources)

    def trust(self) -> None:
        settings = self.settings()
        TrustStore(settings.agent_home / "trust.json").accept(settings.trust)

    @property
    def consents(self) -> ConsentStore:
        return ConsentStore(self.root / "home" / ".agent")

    def answer(self, name: str, answer: Any) -> None:
        found = self.load().get(name)
        assert found is not None
        self.consents.answer(self.root / "project", found.definition, answer)

    def standings(self, **cli: Any) -> dict[str, str]:
        servers = self.load(**cli).servers
        return {one.definition.name: one.standing for one in servers}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(Path(os.path.realpath(tmp_path)))


def servers(**entries: object) -> dict[str, object]:
    return {"mcpServers": entries}


def command(name: str, *args: str) -> dict[str, object]:
    return {"command": name, "args": list(args)}


def test_a_server_of_a_project_needs_trust_then_its_own_yes(place: Place) -> None:
    place.write(MCP, servers(db=command("serve")))
    assert place.standings() == {"db": "needs_trust"}
    assert place.load().waiting == ()
    place.trust()
    assert place.standings() == {"db": "needs_approval"}
    assert [one.definition.name for one in place.load().waiting] == ["db"]
    place.answer("db", "approved")
    assert place.standings() == {"db": "may_start"}
    assert place.load().waiting == ()


@pytest.mark.parametrize(
    "changed",
    [
        command("serve", "--all"),
        {**command("serve"), "env": {"A": "2"}},
        {**command("serve"), "headersHelper": "x"},
        {"command": "serve"},
    ],
)
def test_a_changed_definition_asks_again_with_what_was_approved(
    place: Place, changed: dict[str, object]
) -> None:
    place.write(MCP, servers(db=command("serve")))
    place.trust()
    place.answer("db", "approved")
    place.write(MCP, servers(db=changed))
    (waiting,) = place.load().waiting
    assert waiting.earlier == command("serve")
    assert place.standings() == {"db": "needs_approval"}
    assert not place.settings().trust.must_ask


def test_what_was_rejected_is_not_asked_about_until_it_changes(place: Place) -> None:
    place.write(MCP, servers(db=command("serve")))
    place.trust()
    place.answer("db", "rejected")
    assert (place.standings(), place.load().waiting) == ({"db": "rejected"}, ())
    place.write(MCP, servers(db=command("other")))
    assert [one.earlier for one in place.load().waiting] == [None]


def test_the_flag_for_one_run_starts_what_the_start_found(place: Place) -> None:
    place.write(MCP, servers(db=command("serve")))
    start = place.settings(trust=True)
    assert place.standings(trust=True) == {"db": "may_start"}
    place.write(MCP, servers(db=command("evil")))
    assert place.standings(trust=start.trust) == {"db": "needs_trust"}


def test_of_one_name_the_nearest_scope_wins_once_it_may_start(place: Place) -> None:
    place.write(USER, servers(db=command("user")))
    place.write(MCP, servers(db=command("project")))
    place.write(LOCAL, servers(db=command("local")))
    place.trust()
    (first,) = place.load().servers
    assert (first.definition.command, len(place.load().waiting)) == ("user", 2)
    for name, scope in (("project", "project"), ("local", "local")):
        waiting = next(w for w in place.load().waiting if w.definition.scope == scope)
        place.consents.answer(place.root / "project", waiting.definition, "approved")
        (winner,) = place.load().servers
        assert (winner.definition.command, winner.definition.scope) == (name, scope)
    flag = json.dumps(servers(db=command("flag")))
    (winner,) = place.load(mcp_configs=(flag,)).servers
    assert (winner.definition.command, winner.definition.scope) == ("flag", "dynamic")


def test_servers_of_claude_code_are_read_as_the_user_s(place: Place) -> None:
    project = str(place.root / "project")
    content = {
        "projects": {project: servers(a=command("local")), "/other": servers(c=command("no"))},
        **servers(a=command("user"), b=command("user")),
    }
    place.write("home/.claude.json", content)
    found = {s.definition.name: s.definition for s in place.load().servers}
    assert {n: (d.command, d.scope, d.is_foreign) for n, d in found.items()} == {
        "a": ("local", "local", False),
        "b": ("user", "user", False),
    }
    place.write(USER, servers(b=command("ours")))
    ours = place.load().get("b")
    assert ours is not None
    assert ours.definition.command == "ours"


def test_a_managed_file_is_exclusive(place: Place) -> None:
    place.write(USER, servers(mine=command("x")))
    place.write("etc/managed-mcp.json", servers(theirs=command("y")))
    loaded = place.load()
    assert [(s.definition.name, s.definition.scope) for s in loaded.servers] == [
        ("theirs", "managed")
    ]


def test_strict_leaves_only_those_of_the_command_line(place: Place) -> None:
    place.write(USER, servers(mine=command("x")))
    flag = json.dumps(servers(a=command("y")))
    loaded = place.load(strict=True, mcp_configs=(flag,))
    assert [one.definition.name for one in loaded.servers] == ["a"]
    assert place.load(strict=True).servers == ()


def test_every_bad_entry_is_named_and_the_others_count(place: Place) -> None:
    text = """{"mcpServers": {
      "good": {"command": "x"},
      "typed": {"type": "carrier-pigeon", "url": "x"},
      "untyped": {"url": "https://x"},
      "ide": {"command": "x"},
      "args": {"command": "x",
               "args": ["a", 5]},
      "env": {"command": "x", "env": {"PORT": 5}},
      "time": {"command": "x", "timeout": "5s"},
      "nothing": {},
      "list": []
    }}"""
    place.write(MCP, text)
    loaded = place.load(trust=True)
    assert [one.definition.name for one in loaded.servers] == ["good"]
    assert [(bad.name, bad.mistake.kind, bad.line) for bad in loaded.bad] == [
        ("typed", "unknown_type", 3),
        ("untyped", "url_missing_type", 4),
        ("ide", "reserved_name", 5),
        ("args", "invalid_config", 7),
        ("env", "invalid_config", 8),
        ("time", "invalid_config", 9),
        ("nothing", "invalid_config", 10),
        ("list", "invalid_config", 11),
    ]
    told = [str(one.warning()) for one in loaded.bad]
    assert all(one.startswith(f"{place.root}/{MCP}:") for one in told)
    assert "mcpServers.args.args.1: expected a string in double quotes" in told[3]


def test_the_file_of_another_editor_is_recognized(place: Place) -> None:
    place.write(MCP, {"servers": {"a": {"command": "x"}}})
    assert "mcpServers" in str(place.settings().warnings[0])
    assert "VS Code" in str(place.settings().warnings[0])


def test_variables_are_replaced_but_the_entry_stays_as_written(place: Place) -> None:
    place.env = {"TOKEN": "t0p", "EMPTY": ""}
    entry = {
        "type": "http",
        "url": "https://${HOST:-example.org}/${EMPTY:-x}",
        "headers": {"Authorization": "Bearer ${TOKEN}", "X": "${NOPE}"},
    }
    place.write(USER, servers(a=entry))
    loaded = place.load()
    definition = loaded.servers[0].definition
    assert definition.url == "https://example.org/x"
    assert definition.headers == {"Authorization": "Bearer t0p", "X": "${NOPE}"}
    assert definition.entry == entry
    assert ["${NOPE} is not set" in str(warning) for warning in loaded.warnings] == [True]


def test_only_the_user_may_lift_protections(place: Place) -> None:
    lifting = {"command": "x", "sandbox": False, "envInherit": True, "trustAnnotations": True}
    place.write(MCP, servers(theirs=lifting))
    place.write(USER, servers(mine=lifting))
    loaded = place.load(trust=True)
    by_name = {one.definition.name: one.definition for one in loaded.servers}
    flags = {n: (d.is_confined, d.inherits_env, d.trusts_annotations) for n, d in by_name.items()}
    assert flags == {"theirs": (True, False, False), "mine": (False, True, True)}
    assert sum("has no effect in a project" in str(w) for w in loaded.warnings) == 3


def test_an_empty_address_is_not_configured(place: Place) -> None:
    place.write(USER, servers(a={"type": "http", "url": "${HOST:-}"}))
    assert place.standings() == {"a": "not_configured"}


def test_two_scopes_at_one_address_start_once(place: Place) -> None:
    place.write(USER, servers(mine={"type": "http", "url": "https://Example.org/mcp/"}))
    place.write(MCP, servers(ours={"type": "http", "url": "https://example.org/mcp"}))
    assert place.standings(trust=True) == {"ours": "may_start", "mine": "same_endpoint"}


def test_a_server_that_was_turned_off_stays_off_here(place: Place) -> None:
    place.write(USER, servers(a=command("x")))
    place.consents.set_disabled(place.root / "project", "a", True)
    assert place.standings() == {"a": "disabled"}
    place.consents.set_disabled(place.root / "project", "a", False)
    assert place.standings() == {"a": "may_start"}


@pytest.mark.parametrize("name", [PROJECT, LOCAL, USER])
def test_any_file_may_reject_a_server_of_the_project(place: Place, name: str) -> None:
    place.write(MCP, servers(a=command("x")))
    place.write(name, {"disabledMcpjsonServers": ["a"]})
    assert place.standings(trust=True) == {"a": "rejected"}


@pytest.mark.parametrize(
    "approval", [{"enabledMcpjsonServers": ["a"]}, {"enableAllProjectMcpServers": True}]
)
def test_only_the_user_may_approve_in_settings(place: Place, approval: dict[str, object]) -> None:
    place.write(MCP, servers(a=command("x")))
    place.write(PROJECT, approval)
    place.trust()
    assert place.standings() == {"a": "needs_approval"}
    place.write(USER, approval)
    assert place.standings() == {"a": "may_start"}


NAMED = {"serverName": "a"}
RUNS = {"serverCommand": ["run", "x"]}
AT = {"serverUrl": "https://*.example.org/mcp/*"}


@pytest.mark.parametrize(
    ("entry", "lists", "blocked"),
    [
        (command("run", "x"), {"deniedMcpServers": [NAMED]}, True),
        (command("run", "x"), {"deniedMcpServers": [RUNS]}, True),
        (command("run", "y"), {"deniedMcpServers": [RUNS]}, False),
        (command("run", "x"), {"allowedMcpServers": []}, True),
        (command("run", "x"), {"allowedMcpServers": [NAMED]}, False),
        (command("run", "y"), {"allowedMcpServers": [NAMED, RUNS]}, True),
        (command("run", "x"), {"allowedMcpServers": [NAMED, AT]}, False),
        (
            {"type": "http", "url": "https://API.example.org/mcp/1"},
            {"allowedMcpServers": [AT]},
            False,
        ),
        (
            {"type": "http", "url": "https://evil.org/mcp/1"},
            {"allowedMcpServers": [NAMED, AT]},
            True,
        ),
        ({"type": "http", "url": "https://a.example.org/x"}, {"deniedMcpServers": [AT]}, False),
        (
            {"type": "http", "url": "https://x.org/any?q"},
            {"deniedMcpServers": [{"serverUrl": "https://x.org"}]},
            True,
        ),
        (
            command("run"),
            {"allowManagedMcpServersOnly": True, "allowedMcpServers": [NAMED]},
            False,
        ),
        (command("run"), {"allowManagedMcpServersOnly": True}, True),
    ],
)
def test_managed_lists(
    place: Place, entry: dict[str, object], lists: dict[str, object], blocked: bool
) -> None:
    place.write(USER, servers(a=entry))
    place.write(POLICY, lists)
    assert (place.standings()["a"] == "blocked") is blocked


def test_a_project_denies_but_never_allows(place: Place) -> None:
    place.write(USER, servers(a=command("x"), b=command("y")))
    place.write(PROJECT, {"allowedMcpServers": [NAMED], "deniedMcpServers": [NAMED]})
    assert place.standings() == {"a": "blocked", "b": "may_start"}


def test_a_user_s_list_does_not_widen_a_managed_one(place: Place) -> None:
    place.write(USER, {**servers(a=command("x")), "allowedMcpServers": [NAMED]})
    place.write(POLICY, {"allowManagedMcpServersOnly": True, "allowedMcpServers": []})
    assert place.standings() == {"a": "blocked"}


def npx(package: str, **env: str) -> dict[str, object]:
    return {
        "type": "stdio",
        "command": "npx",
        "args": ["-y", package],
        **({"env": env} if env else {}),
    }


PUBLIC: dict[str, tuple[dict[str, object], list[str]]] = {
    "several of one package runner": (
        servers(jira=npx("jira", HOST="${HOST}"), notes=npx("notes"), db=npx("db", URL="${URL}")),
        ["jira", "notes", "db"],
    ),
    "a remote one with scopes": (
        servers(x={"type": "http", "url": "https://x.example/mcp", "oauth": {"scopes": "mcp:a"}}),
        ["x"],
    ),
    "the project's directory in arguments": (
        servers(tube={"command": "node", "args": ["${CLAUDE_PROJECT_DIR:-.}/dist/index.js"]}),
        ["tube"],
    ),
    "keys of other programs": (
        servers(demo={"command": "python", "enabled": True, "timeout_ms": 5, "description": "d"}),
        ["demo"],
    ),
    "a remote one without a type": (
        servers(a={"command": "x"}, b={"url": "http://127.0.0.1:8765/mcp"}),
        ["a"],
    ),
    "a link in place of an address": (servers(a={"link": "https://x.example"}), []),
    "variables of another editor": (
        servers(ci={"type": "http", "url": "http://ci:80/", "headers": {"A": "B ${input:c}"}}),
        ["ci"],
    ),
    "a helper for headers": (
        servers(deals={"type": "http", "url": "https://x.example", "headersHelper": "node h.mjs"}),
        ["deals"],
    ),
    "empty arguments": (servers(memory={"command": "/home/x/bin/memory", "args": []}), ["memory"]),
    "a shell of another system": (
        servers(e2b={"command": "cmd", "args": ["/c", "npx", "-y", "e2b"], "disabledTools": ["w"]}),
        ["e2b"],
    ),
}
"""Shapes of public files; the names are those that Claude Code shows as servers."""


@pytest.mark.parametrize("shape", PUBLIC)
def test_public_files_have_the_servers_that_users_know(place: Place, shape: str) -> None:
    content, names = PUBLIC[shape]
    place.write(MCP, content)
    loaded = place.load(trust=True)
    assert [one.definition.name for one in loaded.servers] == names
    assert {one.standing for one in loaded.servers} <= {"may_start"}
    found = loaded.get("tube")
    if found is not None:
        assert found.definition.args == (f"{place.root}/project/dist/index.js",)


@pytest.mark.parametrize(
    ("name", "waits"), [("git.hub", False), ("git__hub", False), ("git", True), ("git_hub2", True)]
)
def test_a_project_s_server_takes_no_tool_names_of_the_user_s(
    place: Place, name: str, waits: bool
) -> None:
    place.write(USER, {"mcpServers": {"git_hub": {"command": "mine"}}})
    place.write(MCP, {"mcpServers": {name: {"command": "theirs"}}})
    place.trust()
    assert place.standings() == {
        "git_hub": "may_start",
        name: "needs_approval" if waits else "blocked",
    }


def test_a_project_s_server_in_place_of_the_user_s_says_so(place: Place) -> None:
    place.write(USER, {"mcpServers": {"tracker": {"command": "mine"}}})
    place.write(MCP, {"mcpServers": {"tracker": {"command": "a"}, "other": {"command": "b"}}})
    place.trust()
    waiting = {one.definition.name: one.replaces_own for one in place.load().waiting}
    assert waiting == {"tracker": True, "other": False}
