"""Six sources, read and merged; what a project may not do before and after trust."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ConfigError, FlagError
from agent.settings.load import CliSettings, Settings, load_settings
from agent.settings.trust import TrustStore
from hooks.config.section import parse_hooks
from hooks.config.spec import HookSource
from permissions.rule import RuleBehavior, RuleExamples, RuleSource


@dataclass
class World:
    """A home, a project and a managed folder."""

    root: Path

    def __post_init__(self) -> None:
        for directory in (self.home, self.project / ".git"):
            directory.mkdir(parents=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def policy(self) -> Path:
        return self.root / "etc"

    @property
    def store(self) -> TrustStore:
        return TrustStore(self.home / ".agent" / "trust.json")

    def write(self, name: str, content: object) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        path.write_text(text)
        return path

    def load(self, launch_dir: Path | None = None, **cli: Any) -> Settings:
        return load_settings(
            launch_dir=launch_dir or self.project,
            home=self.home,
            agent_home=self.home / ".agent",
            cli=CliSettings(**cli),
            policy_dir=self.policy,
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Path(os.path.realpath(tmp_path)))


def rules(settings: Settings) -> list[str]:
    return [f"{r.behavior.value} {r.text} {r.source.value}" for r in settings.rules]


def warnings(settings: Settings) -> list[str]:
    return [str(w) for w in settings.warnings]


PROJECT = "project/.agent/settings.json"
LOCAL = "project/.agent/settings.local.json"
USER = "home/.agent/settings.json"
POLICY = "etc/managed-settings.json"


def test_without_any_file_nothing_is_set_and_nothing_warned(world: World) -> None:
    settings = world.load()
    assert (settings.rules, settings.hooks, settings.warnings) == ((), (), ())
    assert settings.project_root == world.project
    assert settings.trust.must_ask


def test_rules_of_all_sources_come_in_source_order_with_their_lines(world: World) -> None:
    for name in (POLICY, PROJECT, LOCAL, USER):
        world.write(name, {"permissions": {"deny": ["Read(.env)"]}})
    world.write("home/.claude/settings.json", {"permissions": {"ask": ["Bash(rm *)"]}})
    settings = world.load(allow=("Bash(ls)",))
    assert rules(settings) == [
        "deny Read(.env) policySettings",
        "deny Read(.env) projectSettings",
        "deny Read(.env) localSettings",
        "deny Read(.env) userSettings",
        "ask Bash(rm *) userSettings",
        "allow Bash(ls) cliArg",
    ]
    assert settings.rules[1].file == str(world.project / ".agent/settings.json")
    assert settings.rules[1].line == 4


def test_scalars_go_to_the_highest_source_and_ours_beats_claude(world: World) -> None:
    world.write(USER, {"model": "user", "theme": "dark"})
    world.write("home/.claude/settings.json", {"theme": "light", "language": "de"})
    settings = world.load(model="flag")
    assert (settings.values.model, settings.values.theme) == ("flag", "dark")
    assert settings.values.language == "de"
    assert settings.effective.origins["model"].source is RuleSource.CLI
    world.write(POLICY, {"model": "managed"})
    assert world.load(model="flag").values.model == "managed"


def test_a_later_managed_file_overrides_the_base(world: World) -> None:
    world.write(POLICY, {"model": "base", "theme": "dark"})
    world.write("etc/managed-settings.d/20-x.json", {"model": "late"})
    world.write("etc/managed-settings.d/10-x.json", {"model": "early"})
    settings = world.load()
    assert (settings.values.model, settings.values.theme) == ("late", "dark")


def test_nothing_of_a_project_that_widens_counts_before_trust(world: World) -> None:
    world.write(
        PROJECT,
        {
            "permissions": {"allow": ["Bash"], "deny": ["Read(x)"], "ask": ["Edit"]},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./evil"}]}]},
            "env": {"FOO": "1"},
            "mcpServers": {"s": {"command": "evil"}},
            "statusLine": {"type": "command", "command": "evil"},
            "model": "dear",
            "disableAllHooks": True,
        },
    )
    world.write("project/.mcp.json", {"mcpServers": {"t": {"type": "http", "url": "http://x"}}})
    world.write("project/.claude/commands/go.md", "do it")
    settings = world.load()
    assert rules(settings) == ["deny Read(x) projectSettings", "ask Edit projectSettings"]
    assert [r.text for r in settings.waiting_rules] == ["Bash"]
    assert (settings.hooks, dict(settings.env), settings.values.statusLine) == ((), {}, None)
    assert (settings.values.model, settings.values.disableAllHooks) == (None, None)
    assert [(s.name, s.in_force) for s in settings.mcp_servers] == [("s", False), ("t", False)]
    assert [(i.kind, i.label) for i in settings.trust.new] == [
        ("allow rule", "Bash"),
        ("hook", "Stop (*): ./evil"),
        ("MCP server", "s: evil"),
        ("environment variable", "FOO=1"),
        ("status line", "evil"),
        ("setting", 'model: "dear"'),
        ("setting", "disableAllHooks: true"),
        ("MCP server", "t: http://x"),
        ("command", ".claude/commands/go.md"),
    ]


def test_after_trust_it_counts_and_only_what_is_new_asks_again(world: World) -> None:
    hook = {"type": "command", "command": "./check"}
    content = {
        "permissions": {"allow": ["Bash(npm test)"]},
        "hooks": {"Stop": [{"hooks": [hook]}]},
        "env": {"FOO": "1"},
    }
    world.write(PROJECT, content)
    world.store.accept(world.load().trust)
    settings = world.load()
    assert not settings.trust.must_ask
    assert rules(settings) == ["allow Bash(npm test) projectSettings"]
    assert dict(settings.env) == {"FOO": "1"}
    assert len(settings.hooks) == 1

    content["permissions"] = {"allow": ["Bash(npm test)", "Bash(curl *)"]}
    content["hooks"] = {"Stop": [{"hooks": [hook, {**hook, "command": "./evil"}]}]}
    world.write(PROJECT, content)
    settings = world.load()
    assert [i.label for i in settings.trust.new] == ["Bash(curl *)", "Stop (*): ./evil"]
    assert rules(settings) == ["allow Bash(npm test) projectSettings"]
    assert settings.hooks[0].raw == {"Stop": [{"hooks": [hook]}]}


def test_one_group_of_hooks_in_place_of_a_list_is_asked_about_and_runs(world: World) -> None:
    hook = {"type": "command", "command": "./guard"}
    world.write(PROJECT, {"hooks": {"PreToolUse": {"matcher": "Bash", "hooks": [hook]}}})
    settings = world.load()
    assert [i.label for i in settings.trust.new] == ["PreToolUse (Bash): ./guard"]
    assert settings.hooks == ()
    world.store.accept(settings.trust)
    assert world.load().hooks[0].raw == {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}


@pytest.mark.parametrize("groups", ["./guard", ["./guard"], [{"command": "./guard"}]])
def test_malformed_hooks_of_a_trusted_project_are_passed_on_to_be_reported(
    world: World, groups: object
) -> None:
    world.write(PROJECT, {"hooks": {"PreToolUse": groups}, "env": {"FOO": "1"}})
    assert world.load().hooks == ()
    (text,) = world.load(trust=True).hooks
    (warning,) = parse_hooks(text.raw, source=HookSource.PROJECT)[1]
    assert "ignored" in str(warning)


def test_trusting_for_one_run_stores_nothing(world: World) -> None:
    world.write(PROJECT, {"permissions": {"allow": ["Bash(ls)"]}})
    settings = world.load(trust=True)
    assert rules(settings) == ["allow Bash(ls) projectSettings"]
    assert not settings.trust.must_ask
    assert not world.store.path.exists()


def test_f20_trusting_for_one_run_means_what_its_start_found(world: World) -> None:
    world.write(PROJECT, {"permissions": {"allow": ["Bash(ls)"]}})
    world.write("project/.agent/commands/go.md", "harmless")
    start = world.load(trust=True)
    hook = {"type": "command", "command": "./evil"}
    world.write(
        PROJECT,
        {
            "permissions": {"allow": ["Bash(ls)", "Bash(*)"]},
            "hooks": {"Stop": [{"hooks": [hook]}]},
            "statusLine": {"type": "command", "command": "./evil"},
            "mcpServers": {"evil": {"command": "./evil"}},
        },
    )
    world.write("project/.agent/commands/go.md", "harmful")
    later = world.load(trust=start.trust)
    assert rules(later) == ["allow Bash(ls) projectSettings"]
    assert (later.hooks, later.values.statusLine) == ((), None)
    assert [server.in_force for server in later.mcp_servers] == [False]
    assert {item.kind for item in later.trust.new} == {
        "allow rule", "hook", "status line", "MCP server", "command",
    }  # fmt: skip
    assert not later.trust.must_ask


def test_a_changed_command_file_asks_again(world: World) -> None:
    world.write("project/.agent/commands/go.md", "harmless")
    world.store.accept(world.load().trust)
    world.write("project/.agent/commands/go.md", "harmful")
    assert [i.label for i in world.load().trust.new] == [".agent/commands/go.md"]


def test_rules_the_user_granted_are_accepted_without_trusting_the_directory(world: World) -> None:
    world.write(LOCAL, {"permissions": {"allow": ["Bash(mine)", "Bash(other)"]}})
    world.store.note_own_rules(world.project, ["Bash(mine)"])
    settings = world.load()
    assert rules(settings) == ["allow Bash(mine) localSettings"]
    assert not settings.trust.is_trusted


def test_a_nested_repository_asks_for_itself(world: World) -> None:
    world.write(PROJECT, {"permissions": {"allow": ["Bash(a)"]}})
    world.store.accept(world.load().trust)
    nested = world.project / "vendor" / "lib"
    (nested / ".git").mkdir(parents=True)
    world.write("project/vendor/lib/.agent/settings.json", {"permissions": {"allow": ["Bash(a)"]}})
    settings = world.load(nested)
    assert settings.project_root == nested
    assert settings.trust.must_ask
    assert settings.rules == ()


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ({"permissions": {"defaultMode": "bypassPermissions"}}, "permissions.defaultMode"),
        ({"permissions": {"additionalDirectories": ["/"]}}, "permissions.additionalDirectories"),
        ({"apiKeyHelper": "evil"}, "apiKeyHelper"),
        ({"baseUrl": "http://evil"}, "baseUrl"),
        ({"sandbox": {"enabled": False}}, "sandbox.enabled"),
        ({"sandbox": {"excludedCommands": ["x"]}}, "sandbox.excludedCommands"),
        ({"env": {"PATH": "/evil"}}, "env.PATH"),
        ({"env": {"LD_PRELOAD": "x"}}, "env.LD_PRELOAD"),
        ({"env": {"BASH_ENV": "x"}}, "env.BASH_ENV"),
        ({"env": {"https_proxy": "x"}}, "env.https_proxy"),
        ({"env": {"ANTHROPIC_BASE_URL": "x"}}, "env.ANTHROPIC_BASE_URL"),
        ({"env": {"GIT_SSH_COMMAND": "x"}}, "env.GIT_SSH_COMMAND"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
@pytest.mark.parametrize("file", [PROJECT, LOCAL, "project/.claude/settings.json"])
def test_some_keys_never_count_from_a_project_even_when_trusted(
    world: World, content: dict[str, Any], key: str, file: str
) -> None:
    path = world.write(file, content)
    settings = world.load(trust=True)
    told = [w for w in settings.warnings if w.key == key]
    assert [w.file for w in told] == [path]
    assert told[0].line is not None
    assert "ignored in project settings" in told[0].message
    assert (settings.mode, settings.additional_dirs, dict(settings.env)) == (None, (), {})
    assert (settings.values.apiKeyHelper, settings.values.baseUrl) == (None, None)


@pytest.mark.parametrize("key", ["forceLoginMethod", "cleanupPeriodDays"])
def test_no_message_advises_a_key_that_has_no_effect_in_any_file(world: World, key: str) -> None:
    world.write("project/.claude/settings.json", {key: "x" if key == "forceLoginMethod" else 3})
    told = [w.message for w in world.load(trust=True).warnings if w.key == key]
    assert not any("user settings" in message for message in told)


def test_the_user_may_set_them(world: World) -> None:
    world.write(
        USER,
        {
            "permissions": {"defaultMode": "plan", "additionalDirectories": ["~/x", "../y"]},
            "env": {"ANTHROPIC_BASE_URL": "http://localhost:1"},
        },
    )
    settings = world.load()
    assert settings.mode is not None
    assert (settings.mode.text, settings.mode.origin.source) == ("plan", RuleSource.USER)
    assert settings.additional_dirs == (world.home / "x", world.project / "../y")
    assert settings.env["ANTHROPIC_BASE_URL"] == "http://localhost:1"
    assert world.load(permission_mode="auto").mode is not None


def test_a_bad_key_is_named_with_its_line_and_the_rest_counts(world: World) -> None:
    path = world.write(
        USER,
        '{\n"model": 5,\n"effortLevel": "huge",\n"modle": "x",\n"theme": "dark",\n'
        '"permissions": {"deny": ["Bash(a)", 7, {"rule": "Bash(b)", "match": ["b"]}],\n'
        '"allow": "Bash(c)"}\n}',
    )
    settings = world.load()
    assert warnings(settings) == [
        f"{path}:2: model: expected a string",
        f"{path}:3: effortLevel: expected 'low', 'medium', 'high', 'xhigh' or 'max'",
        f'{path}:4: modle: unknown key; did you mean "model"?',
        f"{path}:7: permissions.allow: expected a list",
        f'{path}:6: permissions.deny.1: a rule is a string such as "Bash(git status)", or an '
        "object with 'rule'; it is ignored",
    ]
    assert rules(settings) == ["deny Bash(a) userSettings", "deny Bash(b) userSettings"]
    assert settings.rules[1].examples == RuleExamples(match=("b",))
    assert settings.values.theme == "dark"


@pytest.mark.parametrize(
    ("key", "meant"),
    [("deny", "permissions.deny"), ("defaultMode", "permissions.defaultMode"),
     ("rules", "permissions")],
)  # fmt: skip
def test_rules_in_another_place_are_reported_with_their_place(
    world: World, key: str, meant: str
) -> None:
    path = world.write(USER, {key: {}})
    assert warnings(world.load()) == [f'{path}:2: {key}: unknown key; did you mean "{meant}"?']


def test_a_restriction_without_brackets_still_restricts(world: World) -> None:
    world.write(USER, {"permissions": {"deny": "Bash(rm *)"}})
    assert rules(world.load()) == ["deny Bash(rm *) userSettings"]


@pytest.mark.parametrize(
    "entry",
    [["Bash(rm *)"], [[["Bash(rm *)"], 5]], {"rule": ["Bash(rm *)"]}],
    ids=str,
)
def test_a_restriction_in_too_many_brackets_still_restricts(world: World, entry: object) -> None:
    path = world.write(
        USER, json.dumps({"permissions": {"deny": [entry], "ask": [entry], "allow": [entry]}})
    )
    settings = world.load()
    assert rules(settings) == ["deny Bash(rm *) userSettings", "ask Bash(rm *) userSettings"]
    told = warnings(settings)
    assert len(told) == 3
    assert all(line.startswith(f"{path}:1: permissions.") for line in told)
    assert [line.rpartition("; ")[2] for line in told] == [
        "the name is used anyway",
        "the name is used anyway",
        "it is ignored",
    ]


def test_examples_of_the_wrong_type_are_reported_and_loosen_nothing(world: World) -> None:
    entry = {"rule": "Bash(rm *)", "match": "rm x"}
    world.write(USER, {"permissions": {"deny": [entry], "allow": [entry]}})
    settings = world.load()
    assert rules(settings) == ["deny Bash(rm *) userSettings"]
    assert all("'match' and 'notMatch' are lists of strings" in line for line in warnings(settings))
    assert len(warnings(settings)) == 2


def test_a_syntax_error_keeps_restrictions_and_drops_what_widens(world: World) -> None:
    path = world.write(
        USER,
        '{"permissions": {"deny": ["Bash(a)"], "allow": ["Bash(b)"], "defaultMode": "auto"},\n'
        ' "theme": "dark"\n "model": "x"}',
    )
    settings = world.load()
    assert rules(settings) == ["deny Bash(a) userSettings"]
    assert (settings.mode, settings.values.theme) == (None, "dark")
    assert settings.broken_files == (path,)
    assert f"{path}:3: not valid JSON: expected" in warnings(settings)[0]


@pytest.mark.parametrize("text", ["[]", "5", "null", '"x"', "{"])
def test_a_file_that_is_no_object_is_reported(world: World, text: str) -> None:
    path = world.write(USER, text)
    settings = world.load()
    assert [w.file for w in settings.warnings] == [path]


def test_a_pipe_in_place_of_a_file_does_not_hang(world: World) -> None:
    (world.home / ".agent").mkdir()
    os.mkfifo(world.home / ".agent" / "settings.json")
    assert "not a regular file" in warnings(world.load())[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"permissions": {"deny": ["Bash(x)"', "found the end of the file. An administrator"),
        ('{"permissions": {"deny": [["Bash(x)"]]}}', "or an object with 'rule'. An administrator"),
        ('{"permissions": {"denny": ["Bash(x)"]}}', 'did you mean "deny"? An administrator'),
        ('{"deny": ["Bash(x)"]}', 'did you mean "permissions.deny"? An administrator'),
    ],
)
def test_a_managed_restriction_that_is_not_understood_stops_the_start(
    world: World, text: str, told: str
) -> None:
    world.policy.mkdir(parents=True, exist_ok=True)
    (world.policy / "managed-settings.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        world.load()
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ['{"model": 5}', '{"a"', "[]", '{"permissions": {"deny": [7]}}'])
def test_an_unusable_managed_file_stops_the_start(world: World, text: str) -> None:
    path = world.write(POLICY, text)
    with pytest.raises(ConfigError, match=str(path)):
        world.load()


def test_a_managed_file_that_others_may_write_stops_the_start(world: World) -> None:
    world.write(POLICY, "{}").chmod(0o666)
    with pytest.raises(ConfigError, match="chmod go-w"):
        world.load()


def test_a_managed_file_of_someone_else_stops_the_start(world: World) -> None:
    path = world.write(POLICY, "{}")
    if os.getuid() == 0:
        os.chown(path, 12345, -1)
    with pytest.raises(ConfigError, match="belong to"):
        load_settings(
            launch_dir=world.project,
            home=world.home,
            agent_home=world.home / ".agent",
            policy_dir=world.policy,
            uid=54321,
        )


def test_managed_locks_are_handed_on_and_anyone_may_close_the_bypass_gate(world: World) -> None:
    world.write(POLICY, {"allowManagedPermissionRulesOnly": True})
    world.write(PROJECT, {"permissions": {"disableBypassPermissionsMode": "disable"}})
    world.write(USER, {"allowManagedHooksOnly": True})
    assert dict(world.load().policy) == {
        "allowManagedPermissionRulesOnly": True,
        "disableBypassPermissionsMode": "disable",
    }


@pytest.mark.parametrize(
    ("policy", "user", "flag", "limit"),
    [
        (None, None, None, None),
        (None, 5, None, 5),
        (None, 5, 9, 9),
        (None, 5, 0, 0),
        (None, None, 0, 0),
        (4, 5, None, 4),
        (4, None, 9, 4),
        (4, None, 3, 3),
    ],
)
def test_a_limit_of_the_policy_is_never_exceeded(
    world: World, policy: int | None, user: int | None, flag: int | None, limit: int | None
) -> None:
    for name, value in ((POLICY, policy), (USER, user)):
        if value is not None:
            world.write(name, {"maxBudgetUsd": value})
    assert world.load().limit("maxBudgetUsd", flag) == limit


def test_settings_on_the_command_line_are_a_file_or_json(world: World) -> None:
    path = world.write("extra.json", {"permissions": {"deny": ["Bash(x)"]}})
    assert rules(world.load(settings=str(path))) == ["deny Bash(x) cliArg"]
    assert world.load(settings='{"theme": "light"}').values.theme == "light"
    world.write("bad.json", {"permissions": {"deny": [7]}})
    for bad in ("none.json", '{"a"', '{"model": 5}', '{"modle": "x"}', "bad.json"):
        with pytest.raises(FlagError, match="--settings"):
            world.load(settings=bad if bad[0] == "{" else str(world.root / bad))


def test_servers_on_the_command_line_are_a_file_or_json(world: World) -> None:
    text = '{"mcpServers": {"a": {"type": "http", "url": "http://localhost//x"}}}'
    path = world.write("servers.json", text)
    for given in (str(path), text):
        (server,) = world.load(mcp_configs=(given,)).mcp_servers
        assert (server.name, server.raw["url"]) == ("a", "http://localhost//x")
    for bad in ("none.json", '{"mcpServers": 3}', "{"):
        with pytest.raises(FlagError, match="--mcp-config"):
            world.load(mcp_configs=(bad,))


def test_in_the_home_directory_the_own_file_is_not_a_project_s(world: World) -> None:
    world.write(USER, {"permissions": {"allow": ["Bash(a)"], "defaultMode": "plan"}})
    settings = world.load(world.home)
    assert rules(settings) == ["allow Bash(a) userSettings"]
    assert settings.warnings == ()


def test_a_bad_server_is_reported_and_the_others_count(world: World) -> None:
    world.write("project/.mcp.json", {"mcpServers": {"a": {"command": 5}, "b": {"command": "x"}}})
    settings = world.load(trust=True)
    assert [s.name for s in settings.mcp_servers] == ["b"]
    assert "mcpServers.a.command" in warnings(settings)[0]


def test_lists_add_up_over_sources(world: World) -> None:
    world.write(USER, {"blockedHosts": ["a", "b"]})
    world.write(PROJECT, {"blockedHosts": ["b", "c"]})
    assert world.load().values.blockedHosts == ["b", "c", "a"]


def test_rules_of_the_three_behaviors_are_kept_apart(world: World) -> None:
    world.write(USER, {"permissions": {"allow": ["A(a)"], "ask": ["B"], "deny": ["C"]}})
    assert {r.text: r.behavior for r in world.load().rules} == {
        "A(a)": RuleBehavior.ALLOW,
        "B": RuleBehavior.ASK,
        "C": RuleBehavior.DENY,
    }


def test_settings_below_the_root_are_reported_where_a_session_starts_there(world: World) -> None:
    start = world.project / "packages" / "app"
    (world.project / ".git").mkdir(exist_ok=True)
    for name in ("packages/app/.claude/settings.local.json", "packages/.mcp.json"):
        (world.project / name).parent.mkdir(parents=True, exist_ok=True)
        (world.project / name).write_text("{}")
    (world.project / ".mcp.json").write_text('{"mcpServers": {}}')
    said = warnings(world.load(start))
    assert [text.partition(": ")[0] for text in said] == [
        str(start / ".claude" / "settings.local.json"),
        str(world.project / "packages" / ".mcp.json"),
    ]
    assert all("is not used: the settings of this project are those in" in text for text in said)
    assert not warnings(world.load())
