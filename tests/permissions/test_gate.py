"""The front door: what follows an answer, what changes while it is awaited, what is remembered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from permissions.confinement import Confinement
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    Reason,
    ReasonType,
    WarningType,
)
from permissions.explain.explain_decision import explain_steps
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.paths.file_view import RealFiles
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender
from permissions.resolve.handlers import CoordinatorHandler, InteractiveHandler
from permissions.resolve.race import RaceAborted
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import Engine
from tests.permissions.resolving import NO, UNSURE, YES, FakeAbort, Scripted, at_once

START = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Clock:
    """Every look at it is a second later."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@dataclass
class Log:
    lines: list[tuple[Behavior, str]] = field(default_factory=list)

    def write(self, decision: Decision, request: PermissionRequest) -> None:
        self.lines.append((decision.behavior, str(decision.source)))


@dataclass
class Store:
    stored: list[GrantChoice] = field(default_factory=list)
    problem: OSError | None = None

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        if self.problem is not None:
            raise self.problem
        self.stored.append(grant)
        return grant.rules


@dataclass
class Door:
    """A gate with everything around it."""

    engine: Engine
    gate: PermissionGate
    log: Log
    store: Store
    told: list[str]
    """What the user was told."""

    async def call(self, command: str, abort: FakeAbort | None = None) -> Decision:
        """Take a command through steps 1 to 6."""
        request = bash(command)
        decision = self.gate.evaluate(request, cwd=self.engine.root)
        if decision.behavior is Behavior.ASK:
            return await self.gate.resolve(
                request, decision, abort or FakeAbort(), cwd=self.engine.root
            )
        self.gate.log(decision, request)
        return decision

    def set_rules(self, **rules: Any) -> None:
        self.gate.replace_context(self.engine.context(**rules))


def bash(command: str) -> PermissionRequest:
    return PermissionRequest("Bash", {"command": command}, request_id="r")


def door(
    engine: Engine,
    *contenders: Contender,
    handler: type[InteractiveHandler] | type[CoordinatorHandler] = InteractiveHandler,
    auto_available: bool = False,
    **rules: Any,
) -> Door:
    log, store = Log(), Store()
    told: list[str] = []
    gate = PermissionGate(
        engine.context(**rules),
        handler(contenders),
        audit=log,
        grants=store,
        auto_available=auto_available,
        now=Clock(),
        notify=told.append,
    )
    return Door(engine, gate, log, store, told)


GRANT = GrantChoice(("Bash(git push *)",), "session")


# -- side effects belong to the winner ----------------------------------------------------------


async def test_only_the_winner_s_rule_is_stored(engine: Engine) -> None:
    loser = Scripted("bridge", replace(YES, grant=GrantChoice(("Bash",), "session")))
    d = door(engine, loser, at_once("dialog", replace(YES, grant=GRANT)))
    decision = await d.call("git push")
    loser.go.set()
    await asyncio.sleep(0)
    assert d.store.stored == [GRANT]
    assert decision.stored_rules == GRANT.rules
    assert d.log.lines == [(Behavior.ALLOW, "user")]


async def test_a_no_stores_nothing(engine: Engine) -> None:
    d = door(engine, at_once("dialog", replace(NO, grant=GRANT)))
    await d.call("git push")
    assert d.store.stored == []


async def test_an_interrupted_ask_stores_and_logs_nothing(engine: Engine) -> None:
    abort, dialog = FakeAbort(), Scripted("dialog", replace(YES, grant=GRANT))
    d = door(engine, dialog)
    running = asyncio.ensure_future(d.call("git push", abort))
    await dialog.started.wait()
    abort.fire()
    with pytest.raises(RaceAborted):
        await running
    assert (d.store.stored, d.log.lines, dialog.ended) == ([], [], "cancelled")


async def test_a_cancelled_call_ends_its_dialog(engine: Engine) -> None:
    dialog = Scripted("dialog")
    d = door(engine, dialog)
    running = asyncio.ensure_future(d.call("git push"))
    await dialog.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert dialog.ended == "cancelled"


async def test_a_rule_that_cannot_be_stored_allows_this_call_and_reports_it(engine: Engine) -> None:
    d = door(engine, at_once("dialog", replace(YES, grant=GRANT)))
    d.store.problem = PermissionError("read-only file")
    decision = await d.call("git push")
    assert (decision.behavior, decision.stored_rules) == (Behavior.ALLOW, ())
    assert "read-only file" in decision.warnings[-1].message
    assert d.told == ["The rule could not be stored: read-only file. This call alone was allowed."]


async def test_a_stored_rule_that_can_never_count_is_warned_about(engine: Engine) -> None:
    grant = GrantChoice(("Bash(git push origin *)",), "localSettings")
    d = door(engine, at_once("dialog", replace(YES, grant=grant)), ask=["Bash(git push *)"])
    decision = await d.call("git push origin main")
    assert [(w.type, w.rule) for w in decision.warnings] == [
        (WarningType.SHADOWED_RULE, "Bash(git push origin *)")
    ]
    (told,) = d.told
    assert told.startswith("The rule was stored. 'Bash(git push *)' (your settings) asks")
    assert "narrow the ask rule" in decision.warnings[0].message


# -- what changes while somebody is asked -------------------------------------------------------


async def changed(d: Door, dialog: Scripted, command: str, **rules: Any) -> asyncio.Task[Decision]:
    """Ask, and change the rules while the dialog is open."""
    running = asyncio.ensure_future(d.call(command))
    await dialog.started.wait()
    d.set_rules(**rules)
    for _ in range(10):
        await asyncio.sleep(0)
    return running


async def test_a_new_allow_rule_closes_the_dialog(engine: Engine) -> None:
    dialog = Scripted("dialog")
    d = door(engine, dialog)
    decision = await (await changed(d, dialog, "git push", allow=["Bash(git push)"]))
    assert (decision.behavior, decision.reason) == (Behavior.ALLOW, Reason.ALLOW_RULE)
    assert "changed while it was asked about" in decision.message
    assert dialog.ended == "cancelled"


async def test_a_new_deny_rule_closes_the_dialog(engine: Engine) -> None:
    dialog = Scripted("dialog")
    d = door(engine, dialog)
    decision = await (await changed(d, dialog, "git push", deny=["Bash(git push *)"]))
    assert (decision.behavior, decision.reason) == (Behavior.DENY, Reason.DENY_RULE)


async def test_a_change_that_decides_nothing_leaves_the_dialog_open(engine: Engine) -> None:
    dialog = Scripted("dialog", NO)
    d = door(engine, dialog)
    running = await changed(d, dialog, "git push", allow=["Bash(ls)"], ask=["Bash(git push)"])
    assert not running.done()
    dialog.go.set()
    assert (await running).source is DecisionSource.USER


async def test_one_answer_that_covers_the_others_answers_them(engine: Engine) -> None:
    dialogs = [Scripted("dialog"), Scripted("dialog")]
    first, second = (door(engine, dialog) for dialog in dialogs)
    second.gate = first.gate
    one = asyncio.ensure_future(first.call("git push origin a"))
    two = asyncio.ensure_future(second.call("git push origin b"))
    await dialogs[0].started.wait()
    first.set_rules(allow=["Bash(git push *)"])
    assert [(await task).behavior for task in (one, two)] == [Behavior.ALLOW, Behavior.ALLOW]


@pytest.mark.parametrize(
    ("mode", "behavior"), [(Mode.BYPASS, Behavior.ALLOW), (Mode.PLAN, Behavior.DENY)]
)
async def test_a_new_mode_decides_what_is_being_asked(
    engine: Engine, mode: Mode, behavior: Behavior
) -> None:
    dialog = Scripted("dialog")
    d = door(engine, dialog)
    running = asyncio.ensure_future(d.call("touch a"))
    await dialog.started.wait()
    assert d.gate.set_mode(mode) == ()
    assert (await running).behavior is behavior


async def test_what_a_hook_asked_about_no_new_rule_allows(engine: Engine) -> None:
    dialog = Scripted("dialog", NO)
    d = door(engine, dialog)
    checked = d.gate.evaluation(bash("git push"), cwd=engine.root)
    pending = d.gate.after_pre_tool_use(checked, checked.decision, "ask", "sure?", "guard")
    running = asyncio.ensure_future(
        d.gate.resolve(bash("git push"), pending, FakeAbort(), cwd=engine.root)
    )
    await dialog.started.wait()
    d.set_rules(allow=["Bash(git push)"])
    await asyncio.sleep(0)
    dialog.go.set()
    assert (await running).source is DecisionSource.USER


async def test_a_deny_that_came_with_the_yes_wins(engine: Engine) -> None:
    dialog = Scripted("dialog")
    d = door(engine, dialog)
    running = asyncio.ensure_future(d.call("git push"))
    await dialog.started.wait()
    dialog.go.set()
    d.set_rules(deny=["Bash(git push)"])
    assert (await running).reason is Reason.DENY_RULE


# -- modes --------------------------------------------------------------------------------------


def test_a_closed_gate_leaves_the_mode_and_gives_the_reason(engine: Engine) -> None:
    d = door(engine, bypass_available=False)
    assert [w.type for w in d.gate.set_mode(Mode.BYPASS)] == [WarningType.BYPASS_UNAVAILABLE]
    assert [w.type for w in d.gate.set_mode(Mode.AUTO)] == [WarningType.MODE_IGNORED]
    assert [d.gate.cycle_mode() for _ in range(3)] == [Mode.ACCEPT_EDITS, Mode.PLAN, Mode.DEFAULT]


def test_a_gate_that_closes_ends_its_mode(engine: Engine) -> None:
    d = door(engine, auto_available=True)
    heard: list[Mode] = []
    d.gate.on_mode_change(heard.append)
    d.gate.set_mode(Mode.AUTO)
    d.gate.replace_context(d.gate.context, auto_available=False)
    d.gate.set_mode(Mode.BYPASS)
    d.gate.replace_context(replace(d.gate.context, bypass_available=False))
    assert heard == [Mode.AUTO, Mode.DEFAULT, Mode.BYPASS, Mode.DEFAULT]


def test_auto_strips_dangerous_allow_rules_and_gives_them_back(engine: Engine) -> None:
    rules = ["Bash(python3 *)", "Bash(npm test)", "Bash", "Bash(sudo *)", "Agent(review)"]
    d = door(engine, auto_available=True, allow=rules)
    allowed = [d.gate.evaluate(bash("python3 x.py")).behavior]
    assert list(d.gate.stripped_rules) == []
    d.gate.set_mode(Mode.AUTO)
    allowed.append(d.gate.evaluate(bash("python3 x.py")).behavior)
    stripped = d.gate.stripped_rules
    assert [rule.text for rule in stripped] == [
        "Bash(python3 *)", "Bash", "Bash(sudo *)", "Agent(review)",
    ]  # fmt: skip
    assert d.gate.evaluate(bash("npm test")).behavior is Behavior.ALLOW
    d.gate.set_mode(Mode.DEFAULT)
    allowed.append(d.gate.evaluate(bash("python3 x.py")).behavior)
    assert allowed == [Behavior.ALLOW, Behavior.ASK, Behavior.ALLOW]


# -- denial tracking ----------------------------------------------------------------------------


async def test_three_denials_lead_to_the_dialog_and_a_yes_leads_back(engine: Engine) -> None:
    model, dialog = at_once("model classifier", NO), at_once("dialog", YES)
    d = door(engine, model, dialog, handler=CoordinatorHandler)
    sources = [str((await d.call(f"git push {n}")).source) for n in range(5)]
    assert sources == ["classifier", "classifier", "classifier", "user", "classifier"]
    assert d.gate.denials.describe() == "classifier denials: 1 in a row, 4 in all"


async def test_an_unsure_classifier_ends_the_row(engine: Engine) -> None:
    model = at_once("model classifier", NO)
    d = door(engine, model, at_once("dialog", NO), handler=CoordinatorHandler)
    await d.call("git push 1")
    model.answer = UNSURE
    await d.call("git push 2")
    assert (d.gate.denials.consecutive, d.gate.denials.total) == (0, 1)


# -- what is remembered -------------------------------------------------------------------------


async def test_rules_are_counted_once_per_call_with_their_last_use(engine: Engine) -> None:
    d = door(engine, at_once("dialog", NO), allow=["Bash(npm test)"], ask=["Bash(git push *)"])
    for command in ("npm test", "npm test && npm test", "npm test && git push", "make"):
        await d.call(command)
    rows = {(row.rule, row.behavior): (row.hits, row.last_used) for row in d.gate.rule_table()}
    assert rows == {
        ("Bash(npm test)", "allow"): (3, START + timedelta(seconds=3)),
        ("Bash(git push *)", "ask"): (1, START + timedelta(seconds=3)),
    }


def test_the_table_says_where_every_rule_comes_from(engine: Engine) -> None:
    text = RuleText("Read(a)", RuleBehavior.DENY, RuleSource.LOCAL, "/p/settings.local.json", 7)
    (row,) = door(engine, texts=[text]).gate.rule_table()
    assert (row.rule, row.behavior, row.source, row.file, row.line) == (
        "Read(a)", "deny", "localSettings", "/p/settings.local.json", 7,
    )  # fmt: skip
    assert (row.hits, row.last_used) == (0, None)


async def test_denials_are_remembered_newest_first_and_not_for_ever(engine: Engine) -> None:
    d = door(engine, deny=["Bash(rm *)"])
    for number in range(60):
        await d.call(f"rm {number}")
    calls = [denial.call for denial in d.gate.recent_denials]
    assert calls[:2] == ["Bash(rm 59)", "Bash(rm 58)"]
    assert len(calls) == 50


async def test_a_denied_call_is_allowed_once_when_the_user_confirms(engine: Engine) -> None:
    model = at_once("model classifier", NO)
    d = door(engine, model, handler=CoordinatorHandler)
    await d.call("git push")
    prompt = d.gate.retry(d.gate.recent_denials[0])
    answers = [await d.call(c) for c in ("git push --force", "git push", "git push")]
    assert "Bash(git push)" in prompt
    assert [a.behavior for a in answers] == [Behavior.DENY, Behavior.ALLOW, Behavior.DENY]
    assert (answers[1].source, answers[1].reason_type) == (DecisionSource.USER, ReasonType.USER)


async def test_trying_again_lifts_no_deny(engine: Engine) -> None:
    d = door(engine, at_once("dialog", YES), deny=["Bash(git push)"])
    await d.call("git push")
    d.gate.retry(d.gate.recent_denials[0])
    assert (await d.call("git push")).reason is Reason.DENY_RULE


class BrokenDisk(RealFiles):
    """A view that breaks in a way nobody thought of."""

    def realpath(self, path: str) -> str | None:
        raise RecursionError("too deep")


def test_a_check_that_breaks_denies(engine: Engine) -> None:
    d = door(engine, allow=["Read"])
    d.gate.replace_context(replace(d.gate.context, files=BrokenDisk()))
    request = PermissionRequest("Read", {"file_path": str(engine.root / "src" / "a.py")})
    decision = d.gate.evaluate(request)
    assert decision.behavior is Behavior.DENY
    assert "RecursionError" in decision.message


async def test_a_yes_does_not_outrun_a_deny_that_was_just_written(engine: Engine) -> None:
    d = door(engine, at_once("dialog", YES))

    async def refresh_settings() -> None:
        d.set_rules(deny=["Bash(git push *)"])

    d.gate.on_before_allow(refresh_settings)
    decision = await d.call("git push")
    assert (decision.behavior, decision.reason) == (Behavior.DENY, Reason.DENY_RULE)


# -- what a user is shown ----------------------------------------------------------------------


async def test_parts_that_only_read_are_no_reason_to_ask(engine: Engine) -> None:
    opened = door(engine)
    request = bash("git status && npm test | head -3")
    shown = opened.gate.preview(request, cwd=engine.root)
    assert shown.behavior is Behavior.ASK
    assert [(part.text, part.behavior, part.source) for part in shown.parts] == [
        ("git status", Behavior.ALLOW, DecisionSource.CLASSIFIER),
        ("npm test", Behavior.ASK, DecisionSource.MODE),
        ("head -3", Behavior.ALLOW, DecisionSource.CLASSIFIER),
    ]
    titles = [part.title for part in explain_steps(shown)]
    assert [("only reads" in title, "strictest" in title) for title in titles[:3]] == [
        (True, False),
        (False, True),
        (True, False),
    ]


@pytest.mark.parametrize(
    "rules",
    [{"ask": ["Bash(git status)"]}, {"trusted": False}],
    ids=["an ask rule", "nobody trusts the folder"],
)
async def test_a_reading_part_that_is_a_reason_stays_one(
    engine: Engine, rules: dict[str, Any]
) -> None:
    shown = door(engine, **rules).gate.preview(bash("git status && npm test"), cwd=engine.root)
    assert shown.parts[0].behavior is Behavior.ASK


async def test_a_user_opens_a_directory_outside_once(own_engine: Engine) -> None:
    place = str(own_engine.root.parent / "outside")
    d = door(own_engine, at_once("dialog", YES))
    for _ in range(2):
        decision = await d.call(f"touch {place}/x")
        assert (decision.behavior, decision.source) == (Behavior.ALLOW, DecisionSource.USER)
        assert (decision.confinement, decision.write_dirs) == (Confinement.NONE, (place,))
    assert d.gate.context.additional_dirs == ()


async def test_a_user_adds_a_directory_for_the_session(own_engine: Engine) -> None:
    place = own_engine.root.parent / "outside"
    grant = GrantChoice((), "session", directories=(str(place), "/etc"))
    d = door(own_engine, at_once("dialog", replace(YES, grant=grant)), mode=Mode.ACCEPT_EDITS)
    added: list[Path] = []
    d.gate.on_directory(added.append)
    await d.call(f"touch {place}/x")
    assert d.gate.context.additional_dirs == (place,)
    assert added == [place]
    assert d.store.stored == []
    again = await d.call(f"touch {place}/y")
    assert (again.source, again.confinement) == (DecisionSource.MODE, Confinement.PROJECT)


@pytest.mark.parametrize("name", ["hook", "classifier", "model classifier"])
async def test_no_one_but_a_user_opens_a_directory_outside(own_engine: Engine, name: str) -> None:
    place = str(own_engine.root.parent / "outside")
    grant = GrantChoice((), "session", directories=(place,))
    d = door(own_engine, at_once(name, replace(YES, grant=grant)))
    decision = await d.call(f"touch {place}/x")
    assert decision.behavior is Behavior.DENY
    assert d.gate.context.additional_dirs == ()


async def test_an_answer_of_a_hook_covers_every_part_it_may_lift(engine: Engine) -> None:
    """The first part asks by mode alone; the second is a user's."""
    d = door(engine, at_once("hook", YES))
    assert (await d.call("make && touch .git/x")).behavior is Behavior.DENY
    assert (await d.call("make && deploy")).confinement is Confinement.PROJECT_FILES
