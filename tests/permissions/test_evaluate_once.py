"""A call is evaluated once; again after a wait, a changed file, a changed rule."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Self

import pytest
from msgspec.structs import replace

from permissions.decision import Behavior, Decision, DecisionSource
from permissions.evaluate.cascade import Evaluation, evaluate_parts
from permissions.evaluate.read_only_classifier import LocalClassifier
from permissions.gate import PermissionGate
from permissions.grants.suggest import suggest
from permissions.mode import Mode
from permissions.paths.file_view import RealFiles
from permissions.request import PermissionRequest
from permissions.resolve.handlers import InteractiveHandler
from tests.permissions.engine import Engine
from tests.permissions.resolving import YES, FakeAbort, Scripted, at_once


class CountedFiles(RealFiles):
    """Counts the views it gave: each evaluation that looks at a file takes one."""

    def __init__(self) -> None:
        self.views: list[int] = []

    def for_one_decision(self) -> Self:
        self.views.append(1)
        return super().for_one_decision()


class Asked:
    """A gate over counted files, with what takes part in a call."""

    def __init__(self, engine: Engine, *contenders: Any, **rules: Any) -> None:
        self.engine = engine
        self.files = CountedFiles()
        classifier = LocalClassifier(lambda request: self.gate.current_evaluation(request))
        self.gate = PermissionGate(
            self._context(**rules), InteractiveHandler([classifier, *contenders])
        )

    def _context(self, **rules: Any) -> Any:
        return replace(self.engine.context(**rules), files=self.files)

    def set_rules(self, **rules: Any) -> None:
        self.gate.replace_context(self._context(**rules))

    async def call(self, command: str) -> Decision:
        """Take a command through all steps, as the loop does."""
        request = PermissionRequest("Bash", {"command": command}, request_id="r")
        evaluation = self.gate.evaluation(request)
        if evaluation.decision.behavior is not Behavior.ASK:
            return evaluation.decision
        return await self.gate.resolve(
            request, evaluation.decision, FakeAbort(), evaluation=evaluation
        )

    @property
    def evaluations(self) -> int:
        return len(self.files.views)


@pytest.mark.parametrize(
    ("command", "rules", "source"),
    [
        ("touch src/b.py", {"allow": ["Bash"]}, DecisionSource.USER_SETTINGS),
        ("rm ../x", {}, DecisionSource.SCOPE_CHECK),
        ("cat src/a.py && head -3 src/a.py", {}, DecisionSource.CLASSIFIER),
    ],
)
async def test_a_call_that_no_one_is_asked_about_is_evaluated_once(
    engine: Engine, command: str, rules: dict[str, Any], source: DecisionSource
) -> None:
    asked = Asked(engine, **rules)
    decision = await asked.call(command)
    assert (decision.source, asked.evaluations) == (source, 1)


async def test_a_call_that_a_user_answers_is_evaluated_again_after_the_wait(
    engine: Engine,
) -> None:
    asked = Asked(engine, at_once("dialog", YES))
    decision = await asked.call("touch src/b.py > src/log")
    assert (decision.source, asked.evaluations) == (DecisionSource.USER, 2)


class Dialog:
    """Works out what may be remembered before it answers, as the screen does."""

    name = "dialog"

    def __init__(self) -> None:
        self.gate: PermissionGate | None = None
        self.seen: Evaluation | None = None
        self.evaluations = 0

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        assert self.gate is not None
        files = self.gate.context.files
        assert isinstance(files, CountedFiles)
        before = len(files.views)
        self.seen = self.gate.current_evaluation(request)
        self.evaluations = len(files.views) - before
        assert suggest(self.seen, pending)
        return YES


async def test_what_may_be_remembered_is_worked_out_from_the_same_evaluation(
    engine: Engine,
) -> None:
    dialog = Dialog()
    asked = Asked(engine, dialog)
    dialog.gate = asked.gate
    await asked.call("touch src/b.py")
    assert dialog.seen is not None
    assert dialog.evaluations == 0


async def _while_asked(asked: Asked, dialog: Scripted, command: str, change: Any) -> Decision:
    running = asyncio.ensure_future(asked.call(command))
    await dialog.started.wait()
    change()
    dialog.go.set()
    return await running


async def test_a_link_that_came_while_the_user_was_asked_is_seen(own_engine: Engine) -> None:
    dialog = Scripted("dialog")
    asked = Asked(own_engine, dialog)
    decision = await _while_asked(
        asked,
        dialog,
        "touch place/x",
        lambda: (own_engine.root / "place").symlink_to("/tmp"),
    )
    assert (decision.behavior, decision.source) == (Behavior.DENY, DecisionSource.SCOPE_CHECK)
    assert decision.message.endswith("which it did not when it was asked about")


async def test_a_rule_that_came_while_the_user_was_asked_counts(engine: Engine) -> None:
    dialog = Scripted("dialog")
    asked = Asked(engine, dialog)
    decision = await _while_asked(
        asked, dialog, "touch src/x", lambda: asked.set_rules(deny=["Bash(touch *)"])
    )
    assert decision.behavior is Behavior.DENY


def _link(root: Path) -> None:
    (root / "src" / "a.py").unlink()
    (root / "src" / "a.py").symlink_to("/etc/passwd")


def _other_link(root: Path) -> None:
    (root / "outlink").unlink()
    (root / "outlink").symlink_to(root / "src")


def _gone(root: Path) -> None:
    (root / "src" / "a.py").unlink()


def _entry(root: Path) -> None:
    (root / "src" / "-x").write_text("")


@pytest.mark.parametrize(
    ("command", "change"),
    [
        ("cat src/a.py", _link),
        ("cat src/a.py", _gone),
        ("cat outlink/secret.txt", _other_link),
        ("sort src/*", _entry),
    ],
)
async def test_the_classifier_does_not_trust_an_evaluation_of_files_that_changed(
    own_engine: Engine, command: str, change: Any
) -> None:
    context = replace(own_engine.context(), files=CountedFiles())
    request = PermissionRequest("Bash", {"command": command})
    evaluation = evaluate_parts(request, context)
    assert evaluation.is_current(request, context)
    change(own_engine.root)
    assert not evaluation.is_current(request, context)


def test_an_evaluation_counts_for_its_own_call_and_context_only(engine: Engine) -> None:
    context = engine.context()
    request = PermissionRequest("Bash", {"command": "cat src/a.py"})
    evaluation = evaluate_parts(request, context)
    again = PermissionRequest("Bash", {"command": "cat src/a.py"}, request_id="r2")
    other = PermissionRequest("Bash", {"command": "cat .env"})
    assert evaluation.is_current(again, context)
    assert not evaluation.is_current(other, context)
    assert not evaluation.is_current(request, context.with_mode(Mode.PLAN))
    assert not evaluation.is_current(request, engine.context(deny=["Bash(cat *)"]))
    assert not evaluation.is_current(request, context, cwd=engine.root / "src")


class MadeUpFiles:
    """A tree that exists nowhere: whether it changes, nobody knows."""

    def realpath(self, path: str) -> str | None:
        return path

    def is_of_process(self, path: str) -> bool:
        return False

    def is_dir(self, path: str) -> bool:
        return False

    def is_link(self, path: str) -> bool:
        return False

    def entries(self, path: str) -> tuple[str, ...] | None:
        return ()


def test_what_is_not_known_to_be_unchanged_is_evaluated_again(engine: Engine) -> None:
    context = replace(engine.context(), files=MadeUpFiles())
    request = PermissionRequest("Bash", {"command": "cat src/a.py"})
    assert not evaluate_parts(request, context).is_current(request, context)
