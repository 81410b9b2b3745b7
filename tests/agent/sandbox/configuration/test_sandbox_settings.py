"""What `sandbox` means in each file, together, and together with permission rules."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent.permission_config.permission_context import permission_setup
from agent.sandbox.configuration import bounded_glob
from agent.sandbox.configuration.bounded_glob import TooManyMatches, matching_paths
from agent.sandbox.configuration.configured_hosts import configured_hosts
from agent.sandbox.configuration.configured_paths import (
    ConfiguredPath,
    directories_of_edit_rules,
    present_paths,
)
from agent.sandbox.configuration.path_lists import path_lists
from agent.sandbox.configuration.sandbox_settings import SandboxSettings, sandbox_settings
from agent.sandbox.network.host_name import read_host
from agent.settings.load import CliSettings, Settings, load_settings
from permissions.confinement import Confinement
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText

FILES = {
    "policy": "etc/managed-settings.json",
    "user": "home/.agent/settings.json",
    "project": "project/.agent/settings.json",
    "local": "project/.agent/settings.local.json",
}
PROJECT_FILES = ["project", "local"]


class Place:
    """A home and a project with settings files."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self.home, self.project = self.root / "home", self.root / "project"
        for directory in (self.home, self.project / ".git"):
            directory.mkdir(parents=True)

    def load(self, *, flag: Mapping[str, Any] | None = None, **files: object) -> Settings:
        """Write the files, by the names of `FILES`, and load them."""
        for name, content in files.items():
            path = self.root / FILES[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return load_settings(
            launch_dir=self.project,
            home=self.home,
            agent_home=self.home / ".agent",
            cli=CliSettings(settings=None if flag is None else json.dumps(flag)),
            policy_dir=self.root / "etc",
        )

    def sandbox(self, **sections: Any) -> SandboxSettings:
        """Return what the sections mean, each alone in its file."""
        flag = sections.pop("flag", None)
        files = {name: {"sandbox": section} for name, section in sections.items()}
        return sandbox_settings(
            self.load(flag=None if flag is None else {"sandbox": flag}, **files)
        )


@pytest.fixture(name="place")
def place_of_the_test(tmp_path: Path) -> Place:
    return Place(tmp_path)


def _paths(entries: tuple[ConfiguredPath, ...]) -> list[str]:
    return [entry.path for entry in entries]


def _texts(sandbox: SandboxSettings) -> tuple[list[str], list[str]]:
    hosts = sandbox.hosts
    return [rule.text for rule in hosts.allow], [rule.text for rule in hosts.deny]


def test_without_a_section_nothing_is_on(place: Place) -> None:
    assert place.sandbox() == SandboxSettings(auto_allow_bash=False)


@pytest.mark.parametrize("source", ["policy", "user", "flag"])
def test_the_user_turns_it_on(place: Place, source: str) -> None:
    found = place.sandbox(**{source: {"enabled": True}})
    assert (found.enabled, found.auto_allow_bash) == (True, True)
    found = place.sandbox(**{source: {"enabled": True, "autoAllowBashIfSandboxed": False}})
    assert (found.enabled, found.auto_allow_bash) == (True, False)


@pytest.mark.parametrize("source", PROJECT_FILES)
def test_a_project_confines_but_lets_nothing_run_unasked(place: Place, source: str) -> None:
    found = place.sandbox(**{source: {"enabled": True, "autoAllowBashIfSandboxed": True}})
    assert (found.enabled, found.auto_allow_bash) == (True, False)


WIDENING: list[tuple[str, dict[str, Any]]] = [
    ("enabled", {"enabled": False}),
    ("failIfUnavailable", {"failIfUnavailable": False}),
    ("autoAllowBashIfSandboxed", {"autoAllowBashIfSandboxed": True}),
    ("allowUnsandboxedCommands", {"allowUnsandboxedCommands": True}),
    ("hooks", {"hooks": False}),
    ("excludedCommands", {"excludedCommands": ["docker *"]}),
    ("filesystem.allowWrite", {"filesystem": {"allowWrite": ["/"]}}),
    ("filesystem.allowRead", {"filesystem": {"allowRead": ["~/.ssh"]}}),
    ("filesystem.disabled", {"filesystem": {"disabled": True}}),
    ("network.allowedDomains", {"network": {"allowedDomains": ["*"]}}),
    ("network.strictAllowlist", {"network": {"strictAllowlist": False}}),
    ("network.allowAllUnixSockets", {"network": {"allowAllUnixSockets": True}}),
    ("network.httpProxyPort", {"network": {"httpProxyPort": 8080}}),
    ("bwrapPath", {"bwrapPath": "/project/bwrap"}),
    ("ripgrep", {"ripgrep": {"command": "/project/rg"}}),
    ("ignoreViolations", {"ignoreViolations": {"*": ["/"]}}),
]


@pytest.mark.parametrize("source", PROJECT_FILES)
@pytest.mark.parametrize(("key", "section"), WIDENING, ids=[key for key, _ in WIDENING])
def test_what_a_project_widens_is_ignored_and_reported(
    place: Place, source: str, key: str, section: Mapping[str, Any]
) -> None:
    settings = place.load(**{source: {"sandbox": section}})
    warned = [each for each in settings.warnings if each.key == f"sandbox.{key}"]
    assert [(each.file, each.message) for each in warned] == [
        (
            place.root / FILES[source],
            "ignored in project settings, allowed only in your user settings",
        )
    ]
    assert warned[0].line is not None
    assert warned[0].line > 1
    assert sandbox_settings(settings) == SandboxSettings()


@pytest.mark.parametrize("source", PROJECT_FILES)
def test_what_a_project_tightens_counts_before_trust(place: Place, source: str) -> None:
    section = {
        "enabled": True,
        "failIfUnavailable": True,
        "allowUnsandboxedCommands": False,
        "filesystem": {"denyWrite": ["generated"], "denyRead": ["./secret/"]},
        "network": {"deniedDomains": ["evil.example"], "strictAllowlist": True},
        "credentials": {
            "files": [{"path": ".env", "mode": "deny"}],
            "envVars": [{"name": "TOKEN", "mode": "deny"}],
        },
    }
    user = {
        "enabled": True,
        "network": {"allowedDomains": ["good.example"], "strictAllowlist": False},
    }
    found = place.sandbox(user=user, **{source: section})
    assert _paths(found.deny_write) == [f"{place.project}/generated"]
    assert _paths(found.deny_read) == [f"{place.project}/secret", f"{place.project}/.env"]
    assert _texts(found) == (["good.example"], ["evil.example"])
    assert (found.strict_allowlist, found.fail_if_unavailable) == (True, True)
    assert (found.allow_unsandboxed_commands, found.auto_allow_bash) == (False, True)
    assert found.denied_variables == ("TOKEN",)
    assert found.warnings == ()


def test_lists_of_all_sources_add_up(place: Place) -> None:
    settings = place.load(
        policy={"sandbox": {"network": {"allowedDomains": ["a.example"]}}},
        user={"sandbox": {"network": {"allowedDomains": ["b.example", "a.example"]}}},
        project={"sandbox": {"network": {"deniedDomains": ["c.example"]}}},
        flag={"sandbox": {"network": {"allowedDomains": ["d.example:8080"]}}},
    )
    found = sandbox_settings(settings)
    assert _texts(found) == (
        ["a.example", "d.example:8080", "b.example", "a.example"],
        ["c.example"],
    )
    assert settings.values.sandbox is not None
    assert settings.values.sandbox.network is not None
    # What `/config` shows.
    assert settings.values.sandbox.network.allowedDomains == [
        "a.example", "d.example:8080", "b.example",
    ]  # fmt: skip
    assert settings.values.sandbox.network.deniedDomains == ["c.example"]


def test_of_two_scalars_the_stronger_source_counts(place: Place) -> None:
    assert not place.sandbox(policy={"enabled": False}, user={"enabled": True}).enabled


def test_a_flag_counts_before_the_files_of_the_user_and_the_project(place: Place) -> None:
    on, off = {"enabled": True}, {"enabled": False}
    assert place.sandbox(flag=on, user=off).enabled
    assert not place.sandbox(flag=off, local=on).enabled


def test_paths_start_where_the_settings_belong(place: Place) -> None:
    written = ["/abs", "//abs2", "~", "~/in", "rel/", "./rel2/**", "~/all/**"]
    found = place.sandbox(user={"filesystem": {"allowWrite": written}})
    home, settings = place.home, place.home / ".agent"
    assert _paths(found.allow_write) == [
        "/abs", "/abs2", f"{home}", f"{home}/in", f"{settings}/rel", f"{settings}/rel2",
        f"{home}/all",
    ]  # fmt: skip
    assert {entry.source for entry in found.allow_write} == {RuleSource.USER}


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        ({"filesystem": {"allowWrite": ["~/x/*.log"]}}, "filesystem.allowWrite.0", "wildcards"),
        ({"filesystem": {"allowRead": ["~other/x"]}}, "filesystem.allowRead.0", "only ~/"),
        ({"filesystem": {"denyRead": ["ok", " "]}}, "filesystem.denyRead.1", "names no path"),
        ({"network": {"allowedDomains": ["http://x/"]}}, "network.allowedDomains.0", "not a host"),
        ({"bwrapPath": "/usr/bin/bwrap"}, "bwrapPath", "managed settings only"),
        ({"network": {"allowManagedDomainsOnly": True}}, "network.allowManagedDomainsOnly",
         "managed settings only"),
        ({"network": {"tlsTerminate": {}}}, "network.tlsTerminate", "no effect"),
        ({"ripgrep": {}}, "ripgrep", "no effect"),
        ({"credentials": {"files": [{"path": "~/k", "mode": "mask"}]}}, "credentials.files.0",
         "works as"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_reported(
    place: Place, section: Mapping[str, Any], key: str, words: str
) -> None:
    warnings = place.sandbox(user=section).warnings
    assert [each.key for each in warnings] == [f"sandbox.{key}"]
    assert words in warnings[0].message
    assert warnings[0].line is not None


@pytest.mark.parametrize(
    ("section", "key", "meant"),
    [
        ({"enable": True}, "sandbox.enable", "enabled"),
        ({"network": {"deniedDomain": []}}, "sandbox.network.deniedDomain", "deniedDomains"),
        ({"filesystem": {"denyread": []}}, "sandbox.filesystem.denyread", "denyRead"),
    ],
)
@pytest.mark.parametrize("source", ["user", "project"])
def test_an_unknown_key_is_reported(
    place: Place, source: str, section: Mapping[str, Any], key: str, meant: str
) -> None:
    warnings = place.load(**{source: {"sandbox": section}}).warnings
    assert [each.key for each in warnings] == [key]
    assert meant in warnings[0].message


def test_after_a_syntax_error_only_what_tightens_counts(place: Place) -> None:
    text = '{"sandbox": {"excludedCommands": ["x"], "filesystem": {"denyRead": ["/x"]}}, oops'
    found = sandbox_settings(place.load(user=text))
    assert found.excluded_commands == ()
    assert _paths(found.deny_read) == ["/x"]


def test_managed_keys(place: Place) -> None:
    policy = {
        "bwrapPath": "/opt/bwrap",
        "filesystem": {"allowManagedReadPathsOnly": True, "allowRead": ["/a"]},
        "network": {"allowManagedDomainsOnly": True, "allowedDomains": ["a.example"]},
    }
    user = {
        "filesystem": {"allowRead": ["/b"]},
        "network": {"allowedDomains": ["b.example"], "deniedDomains": ["c.example"]},
    }
    found = place.sandbox(policy=policy, user=user)
    assert _paths(found.allow_read) == ["/a"]
    assert _texts(found) == (["a.example"], ["c.example"])
    assert (found.bubblewrap, found.managed_domains_only) == ("/opt/bwrap", True)


def _rules(*texts: tuple[RuleBehavior, str, RuleSource]) -> RuleSet:
    rules, warnings = RuleSet.build(
        [RuleText(text, behavior, source) for behavior, text, source in texts]
    )
    assert list(warnings) == []
    return rules


ALLOW, DENY = RuleBehavior.ALLOW, RuleBehavior.DENY


def test_rules_about_domains_add_to_the_hosts(place: Place) -> None:
    rules = _rules(
        (ALLOW, "WebFetch(domain:docs.example)", RuleSource.LOCAL),
        (ALLOW, "WebFetch(domain:*.example.org)", RuleSource.USER),
        (ALLOW, "WebFetch", RuleSource.USER),
        (DENY, "WebFetch(domain:*.evil*.example)", RuleSource.PROJECT),
        (DENY, "WebFetch(domain:10.0.0.1)", RuleSource.USER),
        (ALLOW, "Bash(curl *)", RuleSource.USER),
    )
    found = configured_hosts(SandboxSettings(), rules)
    allowed = [
        host
        for host in ("docs.example", "x.docs.example", "a.b.example.org", "other.example")
        if found.allowing(read_host(host), 443)
    ]
    assert allowed == ["docs.example", "a.b.example.org"]
    assert found.allowing(read_host("docs.example"), 8443) is None
    denied = [
        host
        for host in ("x.evil1.example", "x.good.example", "10.0.0.1")
        if found.denying(read_host(host), 8443)
    ]
    assert denied == ["x.evil1.example", "10.0.0.1"]
    managed = SandboxSettings(managed_domains_only=True)
    assert configured_hosts(managed, rules).allow == ()
    assert len(configured_hosts(managed, rules).deny) == 2


def test_edit_rules_of_the_user_open_directories(place: Place) -> None:
    rules = _rules(
        (ALLOW, "Edit(//srv/site/**)", RuleSource.USER),
        (ALLOW, "Edit(~/notes)", RuleSource.SESSION),
        (ALLOW, "Edit(/sub/**)", RuleSource.USER),
        (ALLOW, "Edit(//from/project/**)", RuleSource.PROJECT),
        (ALLOW, "Edit(//from/local/**)", RuleSource.LOCAL),
        (ALLOW, "Edit(//logs/*.log)", RuleSource.USER),
        (ALLOW, "Edit(docs/**)", RuleSource.USER),
        (ALLOW, "Edit", RuleSource.USER),
        (DENY, "Edit(//etc/**)", RuleSource.USER),
        (ALLOW, "Read(//usr/**)", RuleSource.USER),
    )
    context = PermissionContext(Mode.DEFAULT, rules, place.project, place.project, place.home)
    assert set(_paths(directories_of_edit_rules(context))) == {
        "/srv/site", f"{place.home}/notes", f"{place.home}/.agent/sub",
    }  # fmt: skip


def test_wildcards_of_denials_stand_for_what_is_there(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.pem", ".b.pem", "c.txt", "sub/d.pem"):
        path = place.home / "keys" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    patterns = ["~/keys/*.pem", "~/keys/missing", "~/keys/**/d.pem"]
    found = place.sandbox(project={"filesystem": {"denyRead": patterns}})
    keys = place.home / "keys"
    assert set(present_paths(found.deny_read)) == {
        f"{keys}/a.pem", f"{keys}/.b.pem", f"{keys}/missing", f"{keys}/sub/d.pem",
    }  # fmt: skip
    monkeypatch.setattr(bounded_glob, "MAX_MATCHES", 1)
    with pytest.raises(TooManyMatches, match="more than 1 paths"):
        present_paths(found.deny_read)


def test_a_permission_context_is_what_rules_come_from(place: Place) -> None:
    """The rules of real settings files reach both values."""
    settings = place.load(
        user={"permissions": {"allow": ["WebFetch(domain:a.example)", "Edit(//srv/x/**)"]}},
        project={"permissions": {"deny": ["WebFetch(domain:b.example)"]}},
    )
    context = permission_setup(settings, bypass_available=False).context
    found = configured_hosts(sandbox_settings(settings), context.rules)
    assert [(rule.text, rule.source) for rule in (*found.allow, *found.deny)] == [
        ("WebFetch(domain:a.example)", RuleSource.USER),
        ("WebFetch(domain:b.example)", RuleSource.PROJECT),
    ]
    assert _paths(directories_of_edit_rules(context)) == ["/srv/x"]


def test_a_pattern_for_every_directory_is_looked_for_where_something_is_written(
    tmp_path: Path,
) -> None:
    """`//**/.env` in denyWrite read the whole file system before each command."""
    for name in ("project/.env", "project/sub/.env", "more/.env", "elsewhere/.env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=tmp_path / "project",
        project_root=tmp_path / "project",
        home=tmp_path,
        additional_dirs=(tmp_path / "more",),
    )
    entry = ConfiguredPath("/**/.env", RuleSource.PROJECT)
    lists = path_lists(SandboxSettings(deny_write=(entry,)), context, Confinement.PROJECT_FILES)
    found = {os.path.relpath(path, tmp_path) for path in lists.deny_write}
    assert found == {"project/.env", "project/sub/.env", "more/.env"}


def test_a_pattern_for_every_directory_examines_a_limited_number_of_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`//**/.env` in denyRead read the whole file system, and the kernel's views of it."""
    for number in range(30):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "f").touch()
    monkeypatch.setattr(bounded_glob, "MAX_ENTRIES", 50)
    listed: list[str] = []
    real_scandir = os.scandir

    def scandir(path: str) -> Any:
        listed.append(path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for pattern in ("/**/.env", f"{tmp_path}/**/f", f"{tmp_path}/*/*"):
        with pytest.raises(TooManyMatches, match="more than 50 files"):
            present_paths((ConfiguredPath(pattern, RuleSource.USER),))
    assert len(listed) < 200
    assert list(matching_paths(f"{tmp_path}/d1/*")) == [f"{tmp_path}/d1/f"]


def test_patterns_match_as_those_of_the_standard_library(tmp_path: Path) -> None:
    for name in ("a/b/.env", "a/.env", ".h/x.pem", "a/x.pem", "a/b/c/y.pem", "a/[z]/f"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "elsewhere").symlink_to("a/b")
    found_through_link = f"{tmp_path}/a/up"
    for pattern in ("**/.env", "*/x.pem", "**", "a/**/*.pem", "[a]/?/.env", "**/b/**/y.pem"):
        expected = glob.glob(f"{tmp_path}/{pattern}", recursive=True, include_hidden=True)
        real = {os.path.realpath(path) for path in expected}
        assert {os.path.realpath(path) for path in matching_paths(f"{tmp_path}/{pattern}")} == real
    assert found_through_link in matching_paths(f"{tmp_path}/a/*")
