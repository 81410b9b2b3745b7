"""The cost of decisions: a call with many rules, an event with and without hooks.

Measured without a terminal: `python -m benchmarks decisions`.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.figures import Figure
from hooks.config.config import HookLayer, build_config
from hooks.config.spec import HookSource
from hooks.events import PreToolUse
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner
from permissions.base.text.redactor import Redactor
from permissions.context import PermissionContext
from permissions.evaluate.cascade import decide
from permissions.evaluate.read_only_classifier import LocalClassifier
from permissions.explain.audit_log import AuditLog
from permissions.gate import PermissionGate
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.resolve.handlers import InteractiveHandler
from permissions.rules.rule_set import RuleBehavior, RuleSet, RuleSource, RuleText

RULES: Final = 500
PARTS: Final = 10
SLEEP_S: Final = 0.05
EVERYDAY: Final = (
    "cd src{n} && git status --short && npm test -- --run 'unit {n}' > out{n}.txt 2>&1; "
    "pytest -q tests/part{n} -k 'not slow' | head -n 20 && cp build/a{n}.js dist/b.js && "
    'mv dist/b.js dist/c{n}.js; git commit -am "fix: part {n}" && CI=1 make lint || '
    'echo "failed in $HOME/{n}"'
)
"""An everyday command: ten parts, two redirections, files, quotes and a variable."""


def measure_decisions(*, quick: bool) -> Iterator[Figure]:
    """Measure decisions in a temporary project, then hook events."""
    times = 50 if quick else 400
    with tempfile.TemporaryDirectory(prefix="bench-decisions-") as directory:
        yield from _rules(Path(directory), times)
        yield from asyncio.run(_hooks(Path(directory), times))


def _rules(directory: Path, times: int) -> Iterator[Figure]:
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet.build(_texts())[0],
        launch_dir=directory,
        project_root=directory,
        home=directory,
    )
    (directory / "dist").mkdir()
    alike = " && ".join(f"tool{part} run --flag value{{n}}" for part in range(PARTS))
    for name, command in ((f"{PARTS} parts", alike), ("an everyday compound", EVERYDAY)):
        same_text = command.replace("{n}", "x")
        forms = {
            "same command": same_text,
            "one part new": same_text + " && last{n}",
            "every part new": command,
        }
        decide(PermissionRequest("Bash", {"command": same_text}), context)
        for form, text in forms.items():

            def once(number: int, text: str = text) -> None:
                call_text = text.replace("{n}", str(number))
                decide(PermissionRequest("Bash", {"command": call_text}), context)

            title = f"decision, {name}, {RULES} rules, {form}"
            yield Figure(title, _median_ms(once, times), "ms")
    yield Figure("a reading call, resolved", asyncio.run(_median_call_ms(context, times)), "ms")
    log = AuditLog(directory / "audit.jsonl", session_id="bench", redact=_redactor().text)
    request = PermissionRequest("Bash", {"command": EVERYDAY.replace("{n}", "1")})
    decision = decide(request, context)
    yield Figure(
        "its line in the audit log", _median_ms(lambda n: log.write(decision, request), times), "ms"
    )
    long = "echo " + "x" * 9_980
    yield Figure(
        "decision, 10,000 characters",
        _median_ms(
            lambda n: _ignore(
                decide(PermissionRequest("Bash", {"command": f"{long}{n}"}), context)
            ),
            20,
        ),
        "ms",
    )


class _NoAbort:
    aborted = False

    async def wait(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError("nobody interrupts")


async def _median_call_ms(context: PermissionContext, times: int) -> float:
    """Return the time in ms for a read-only call: evaluation, and the classifier's answer."""
    gate = PermissionGate(
        context,
        InteractiveHandler([LocalClassifier(lambda request: gate.current_evaluation(request))]),
    )
    samples: list[float] = []
    for number in range(times):
        command = f"cat a.py | head -n {number} && grep -n x{number} b.py && wc -l c.py"
        request = PermissionRequest("Bash", {"command": command}, request_id=str(number))
        start = time.perf_counter()
        evaluation = gate.evaluation(request)
        await gate.resolve(request, evaluation.decision, _NoAbort(), evaluation=evaluation)
        samples.append(time.perf_counter() - start)
    return median(samples) * 1000


def _redactor() -> Redactor:
    return Redactor({"API_KEY": "sk-ant-" + "x" * 40, "TOKEN": "ghp_" + "x" * 36})


def _texts() -> Iterator[RuleText]:
    sources = list(RuleSource)
    for number in range(RULES):
        behavior = (RuleBehavior.ALLOW, RuleBehavior.ASK, RuleBehavior.DENY)[number % 3]
        text = f"Bash(tool{number} run{number} *)" if number % 2 else f"Edit(/src/{number}/**)"
        yield RuleText(text, behavior, sources[number % len(sources)])


async def _hooks(directory: Path, times: int) -> list[Figure]:
    payload = PreToolUse(tool_name="Read", tool_input={"file_path": "a"}, tool_use_id="t")
    none = _runner(directory, [])
    other = _runner(directory, [{"matcher": "Bash", "hooks": [_command("true")]}])
    eight = _runner(directory, [{"hooks": [_command(f"sleep {SLEEP_S} # {n}") for n in range(8)]}])
    figures = [
        Figure("event, no handler", await _median_event_us(none, payload, times), "µs"),
        Figure("event, no handler matches", await _median_event_us(other, payload, times), "µs"),
    ]
    taken_us = await _median_event_us(eight, payload, 5)
    above = taken_us / 1000 - SLEEP_S * 1000
    figures.append(Figure("eight handlers, above the slowest", above, "ms"))
    return figures


def _command(text: str) -> dict[str, object]:
    return {"type": "command", "command": text}


def _runner(directory: Path, groups: list[dict[str, object]]) -> HookRunner:
    layer = HookLayer(HookSource.USER, {"hooks": {"PreToolUse": groups}})
    session = HookSession(
        session_id="bench",
        transcript_path=directory / "t.jsonl",
        project_dir=directory,
        home=directory,
        state_dir=directory,
        cwd=directory,
    )
    ports = HookPorts(env={"PATH": "/usr/local/bin:/usr/bin:/bin"})
    return HookRunner(build_config([layer]), session=session, ports=ports)


async def _median_event_us(runner: HookRunner, payload: PreToolUse, times: int) -> float:
    samples: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        await runner.run(payload)
        samples.append(time.perf_counter() - start)
    return median(samples) * 1_000_000


def _median_ms(work: Callable[[int], None], times: int) -> float:
    samples: list[float] = []
    for number in range(times):
        start = time.perf_counter()
        work(number)
        samples.append(time.perf_counter() - start)
    return median(samples) * 1000


def _ignore(_value: object) -> None:
    """Drop a value of which only the creation is measured."""
