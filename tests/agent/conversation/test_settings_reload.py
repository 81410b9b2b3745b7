"""Settings that change under a conversation: what follows them, what stays, and what is told."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.conversation.settings_reload import Approve, LiveSettings
from agent.hook_events.config import hook_config
from agent.permission_config.contenders import PermissionContenders, is_auto_available
from agent.permission_config.permission_context import Grants, permission_setup
from agent.sandbox.configuration.sandbox_settings import sandbox_settings
from agent.settings.load import Settings, load_settings
from agent.settings.watch import reload
from hooks.config.spec import CallbackHandler, HandlerSpec, HookSource
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.context import SandboxState
from permissions.decision import Behavior, GrantChoice
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import HeadlessHandler
from permissions.rule import RuleBehavior, RuleSource, RuleText


class Place:
    """A project and a home on disk, and a conversation's gate and hooks on their settings."""

    def __init__(self, base: Path) -> None:
        self.project, self.home, self.managed = base / "project", base / "home", base / "managed"
        for directory in (self.project, self.home, self.managed):
            directory.mkdir()
        self.told: list[tuple[str, str]] = []

    def write(
        self, settings: object, *, directory: Path | None = None, name: str = "settings"
    ) -> Path:
        path = (directory or self.home) / ".agent" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
        return path

    def manage(self, settings: object) -> None:
        (self.managed / "managed-settings.json").write_text(json.dumps(settings))

    def load(self) -> Settings:
        return load_settings(
            launch_dir=self.project,
            home=self.home,
            agent_home=self.home / ".agent",
            policy_dir=self.managed,
        )

    def start(self, approve: Approve | None = None) -> None:
        self.settings = self.load()
        setup = permission_setup(
            self.settings,
            bypass_available=True,
            auto_available=is_auto_available(self.settings),
            session_rules=[RuleText("Bash(granted)", RuleBehavior.ALLOW, RuleSource.SESSION)],
        )
        self.gate = PermissionGate(
            setup.context, HeadlessHandler(), auto_available=is_auto_available(self.settings)
        )
        session = HookSession(
            "s", self.home / "t", self.project, self.home, self.home, self.project
        )
        self.runner = HookRunner(
            hook_config(self.settings), session=session, ports=HookPorts(env={})
        )
        self.live = LiveSettings(
            self.settings,
            load=self.load,
            gate=self.gate,
            runner=self.runner,
            in_force=lambda settings: setattr(self, "settings", settings),
            notify=lambda text, level: self.told.append((level, text)),
            approve=approve,
            sandbox=lambda settings: SandboxState(
                works_inside=sandbox_settings(settings).auto_allow_bash
            ),
        )

    def change(self, settings: object, *, directory: Path | None = None) -> None:
        """Write the settings anew, and let the change count."""
        path = self.write(settings, directory=directory)
        self.live.apply(reload(self.settings, self.load, [path]))

    def answer(self, command: str) -> Behavior:
        return self.gate.evaluate(PermissionRequest("Bash", {"command": command})).behavior


def allow(*rules: str) -> dict[str, Any]:
    return {"permissions": {"allow": list(rules)}}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_rules_follow_their_file_and_grants_of_the_session_stay(place: Place) -> None:
    place.write(allow("Bash(a)"))
    place.start()
    place.change(allow("Bash(b)"))
    assert [place.answer(c) for c in ("a", "b", "granted")] == [
        Behavior.ASK, Behavior.ALLOW, Behavior.ALLOW,
    ]  # fmt: skip
    assert place.told == [("info", "Settings reloaded (settings.json).")]


def test_the_sandbox_follows_the_settings(place: Place) -> None:
    place.start()
    place.change({"sandbox": {"enabled": True}}, directory=place.home)
    assert place.gate.context.sandbox.works_inside
    place.change({}, directory=place.home)
    assert not place.gate.context.sandbox.works_inside


def test_a_broken_file_keeps_what_was_in_force_and_reports_it(place: Place) -> None:
    place.write(allow("Bash(a)"))
    place.start()
    place.change('{"permissions": {"allow": [')
    assert place.answer("a") is Behavior.ALLOW
    ((level, text),) = place.told
    assert level == "warning"
    assert "settings.json" in text


def test_directories_follow_and_those_added_meanwhile_stay(place: Place, tmp_path: Path) -> None:
    old, new, own = (str(tmp_path / name) for name in ("old", "new", "own"))
    place.write({"permissions": {"additionalDirectories": [old]}})
    place.start()
    context = place.gate.context
    place.gate.replace_context(
        replace(context, additional_dirs=(*context.additional_dirs, Path(own)))
    )
    place.change({"permissions": {"additionalDirectories": [new]}})
    assert [str(path) for path in place.gate.context.additional_dirs] == [new, own]


def test_hooks_follow_and_those_that_code_added_stay(place: Place) -> None:
    handler = {"type": "command", "command": "true"}
    place.start()

    async def own(_: object) -> None:
        return None

    place.runner.register(
        [HandlerSpec("Stop", None, CallbackHandler("own", own), HookSource.CODE, 0)]
    )
    place.change({"hooks": {"PreToolUse": [{"hooks": [handler]}]}})
    assert [place.runner.has(event) for event in ("PreToolUse", "Stop", "PostToolUse")] == [
        True, True, False,
    ]  # fmt: skip


def test_a_policy_that_comes_closes_the_gates(place: Place) -> None:
    place.write({"autoMode": {"enabled": True}})
    place.start()
    locks = {Mode.BYPASS: "disableBypassPermissionsMode", Mode.AUTO: "disableAutoMode"}
    for mode, lock in locks.items():
        assert place.gate.set_mode(mode) == ()
        place.manage({"permissions": {lock: "disable"}})
        place.change({"autoMode": {"enabled": True}})
        assert place.gate.mode is Mode.DEFAULT


def test_what_a_project_brings_meanwhile_waits_for_trust(place: Place) -> None:
    place.start()
    place.change(allow("Bash(a)"), directory=place.project)
    assert place.answer("a") is Behavior.ASK
    assert "1 of the project wait for trust" in place.told[0][1]


async def test_it_watches_until_it_is_closed(place: Place) -> None:
    place.start()
    place.live.start()
    place.live.start()
    await place.live.aclose()
    await place.live.aclose()


# -- contenders that settings turn on -----------------------------------------------------------

ON = {
    "autoMode": {"enabled": True},
    "permissionBridge": {"enabled": True},
    "permissionChannel": {"command": ["true"]},
}


def turned_on(place: Place) -> tuple[bool, list[str]]:
    settings = place.load()
    ways = PermissionContenders(lambda: settings, directory=place.home, env={})
    return is_auto_available(settings), [way.name for way in ways.remote()]


def test_the_user_and_the_managed_settings_turn_them_on(place: Place) -> None:
    assert turned_on(place) == (False, [])
    path = place.write(ON)
    assert turned_on(place) == (True, ["bridge", "channel"])
    path.unlink()
    place.manage(ON)
    assert turned_on(place) == (True, ["bridge", "channel"])


@pytest.mark.parametrize("name", ["settings", "settings.local"])
def test_a_project_never_does(place: Place, name: str) -> None:
    place.write(ON, directory=place.project, name=name)
    assert turned_on(place) == (False, [])
    refused = {str(warning.key) for warning in place.load().warnings}
    assert set(ON) <= refused


def test_managed_settings_close_auto_mode(place: Place) -> None:
    place.write(ON)
    place.manage({"permissions": {"disableAutoMode": "disable"}})
    assert not is_auto_available(place.load())


def test_auto_as_the_mode_of_the_start_needs_the_classifier(place: Place) -> None:
    place.write({"permissions": {"defaultMode": "auto"}})
    setup = permission_setup(place.load(), bypass_available=False, auto_available=False)
    assert setup.context.mode is Mode.DEFAULT
    assert "model classifier" in setup.warnings[-1].message
    setup = permission_setup(place.load(), bypass_available=False, auto_available=True)
    assert setup.context.mode is Mode.AUTO


# -- where answers are kept ---------------------------------------------------------------------


def granted(place: Place, destination: str) -> list[RuleText]:
    added: list[RuleText] = []
    grants = Grants(place.load, added.extend)
    grants.store(GrantChoice(("Bash(make)",), destination))
    return added


def test_a_rule_is_not_stored_where_it_cannot_be_recorded_as_ones_own(place: Place) -> None:
    (place.project / ".agent").mkdir()
    file = place.project / ".agent" / "settings.local.json"
    file.write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    (place.home / ".agent" / "trust.json").mkdir(
        parents=True
    )  # cannot be written, not even by root
    with pytest.raises(OSError, match="trust"):
        granted(place, "localSettings")
    assert json.loads(file.read_text()) == {"permissions": {"allow": ["Bash(ls)"]}}


def test_a_personal_file_is_kept_out_of_commits_once(place: Place) -> None:
    ignore = place.project / ".agent" / ".gitignore"
    ignore.parent.mkdir()
    ignore.write_text("mine")
    for _ in range(2):
        (rule,) = granted(place, "localSettings")
    assert rule.file == str(place.project / ".agent" / "settings.local.json")
    assert ignore.read_text() == "mine\nsettings.local.json\n"


def test_nothing_is_written_through_a_link_that_a_project_brings(
    place: Place, tmp_path: Path
) -> None:
    victim = tmp_path / "bashrc"
    victim.write_text("own")
    directory = place.project / ".agent"
    directory.mkdir()
    (directory / ".gitignore").symlink_to(victim)
    granted(place, "localSettings")
    assert victim.read_text() == "own"
    (directory / "settings.json").symlink_to(place.home / "settings.json")
    with pytest.raises(OSError, match="outside of"):
        granted(place, "projectSettings")
    assert not os.path.exists(place.home / "settings.json")


def test_a_grant_in_a_file_of_the_project_is_trusted_as_it_is_given(place: Place) -> None:
    granted(place, "localSettings")
    assert [(r.text, str(r.source)) for r in place.load().rules] == [
        ("Bash(make)", "localSettings")
    ]


@pytest.mark.parametrize("destination", ["policySettings", "cliArg"])
def test_no_answer_changes_managed_settings_or_flags(place: Place, destination: str) -> None:
    with pytest.raises(OSError, match="not kept in a file"):
        granted(place, destination)


async def test_what_the_watcher_has_not_seen_yet_counts_before_a_yes(place: Place) -> None:
    place.write(allow("Bash(a)"))
    place.start()
    path = place.write({"permissions": {"deny": ["Bash(a)"]}})
    await place.live.refresh_settings()
    assert place.answer("a") is Behavior.DENY
    assert place.told == [("info", f"Settings reloaded ({path.name}).")]
    await place.live.refresh_settings()
    assert len(place.told) == 1


async def test_a_file_that_is_broken_when_a_yes_comes_is_reported_once(place: Place) -> None:
    place.write(allow("Bash(a)"))
    place.start()
    place.write('{"permissions": {"deny": [')
    for _ in range(2):
        await place.live.refresh_settings()
    assert place.answer("a") is Behavior.ALLOW
    assert len(place.told) == 1
    place.write({"permissions": {"deny": ["Bash(a)"]}})
    await place.live.refresh_settings()
    assert place.answer("a") is Behavior.DENY


class Hook:
    """A hook on changed settings that takes its time."""

    def __init__(self, answer: bool) -> None:
        self.answer, self.asked = answer, 0
        self.was_asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def approve(self, _source: str, _path: Path) -> bool:
        self.asked += 1
        self.was_asked.set()
        await self.may_answer.wait()
        return self.answer


@pytest.mark.parametrize(
    ("answer", "says", "comes_to"),
    [
        (True, "Settings reloaded (settings.json).", Behavior.DENY),
        (False, "A hook refused the change of", Behavior.ALLOW),
    ],
    ids=["approved", "refused"],
)
async def test_one_change_that_several_notice_is_asked_about_and_reported_once(
    place: Place, answer: bool, says: str, comes_to: Behavior
) -> None:
    hook = Hook(answer)
    place.write(allow("Bash(a)"))
    place.start(hook.approve)
    path = place.write({"permissions": {"deny": ["Bash(a)"]}})
    first = asyncio.ensure_future(place.live.refresh_settings())
    await hook.was_asked.wait()
    # Two more yes of the user, and the watcher: none of them goes on before it is decided.
    others = [asyncio.ensure_future(place.live.refresh_settings()) for _ in range(2)]
    others.append(asyncio.ensure_future(place.live.apply_changes([path])))
    await asyncio.sleep(0)
    assert not any(each.done() for each in others)
    hook.may_answer.set()
    await asyncio.gather(first, *others)
    assert place.answer("a") is comes_to
    assert hook.asked == 1
    assert [text[: len(says)] for _, text in place.told] == [says]


async def test_what_was_refused_is_asked_about_again_once_the_file_said_something_else(
    place: Place,
) -> None:
    hook = Hook(False)
    hook.may_answer.set()
    before = allow("Bash(a)")
    place.write(before)
    place.start(hook.approve)
    for settings, asked in ((allow("Bash(b)"), 1), (allow("Bash(c)"), 2), (allow("Bash(b)"), 3)):
        await place.live.apply_changes([place.write(settings)])
        assert hook.asked == asked
    # Back to what is in force: nothing to ask.
    await place.live.apply_changes([place.write(before)])
    assert hook.asked == 3


def test_a_start_says_what_is_wrong_with_rules(place: Place) -> None:
    example = {"rule": "Bash(git log *)", "match": ["git push"]}
    place.write(
        {"permissions": {"allow": ["Bash(git push)", "Bash(ls", example], "deny": ["Bash(git p*)"]}}
    )
    setup = permission_setup(place.load(), bypass_available=False)
    assert setup.notes == (
        "Rule Bash(ls (~/.agent/settings.json:1): the closing parenthesis is missing; it is "
        "ignored. To fix it: write Bash(ls), or remove the rule.",
        "2 rules need attention; 1 never takes effect: Bash(git push), "
        "Bash(git log *). /permissions and `agent-tui permissions lint` say why, and what to "
        "write instead.",
    )


def test_a_rule_that_another_one_covers_is_no_notice(place: Place) -> None:
    place.write({"permissions": {"allow": ["Read", "Edit", "Write", "Grep", "Glob"]}})
    assert permission_setup(place.load(), bypass_available=False).notes == ()


def test_a_change_says_what_is_wrong_with_its_rules_and_nothing_twice(place: Place) -> None:
    place.write(allow("Bash(ls"))
    place.start()
    place.change(allow("Bash(ls", "Bash(npx *)"))
    assert [level for level, _ in place.told] == ["info", "warning"]
    assert place.told[1][1].startswith("1 rule needs attention: Bash(npx *).")


def test_a_start_in_auto_mode_says_which_allow_rules_do_not_count(place: Place) -> None:
    place.write({"autoMode": {"enabled": True}, "permissions": {"allow": ["Bash(python *)"]}})
    setup = permission_setup(
        place.load(), bypass_available=False, auto_available=True, resumed_mode="auto"
    )
    assert setup.notes == ("Allow rules that are not used in auto mode: Bash(python *).",)
