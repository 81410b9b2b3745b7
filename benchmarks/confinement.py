"""What a confinement costs: one command in bash, bare and under each, as Bash starts it."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from agent.sandbox.probe import probe
from agent.sandbox.sandbox import RunRequest, Sandbox
from benchmarks.figures import Figure
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement, can_hold
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet


def measure_confinement(*, quick: bool) -> Iterator[Figure]:
    """Yield milliseconds for a command in bash: bare, first under a confinement, and later."""
    with tempfile.TemporaryDirectory(prefix="bench-confined-") as scratch:
        sandbox = _sandbox(Path(scratch))
        for confinement in reversed(Confinement):
            if not can_hold(sandbox.level, confinement):
                continue
            times = [_run(sandbox, confinement) for _ in range(10 if quick else 50)]
            name = "bare" if confinement is Confinement.NONE else str(confinement)
            yield Figure(f"bash, {name}: one command", statistics.median(times[1:]), "ms")
            yield Figure(f"bash, {name}: the first", times[0], "ms")


def _sandbox(scratch: Path) -> Sandbox:
    project, temp_dir = scratch / "home" / "project", scratch / "home" / ".agent" / "tmp"
    for directory in (project / ".git" / "hooks", temp_dir):
        directory.mkdir(parents=True)
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=project,
        project_root=project,
        home=scratch / "home",
        scratch_dir=temp_dir,
    )
    return Sandbox(probe(), lambda: context, state_dir=scratch / "state")


def _run(sandbox: Sandbox, confinement: Confinement) -> float:
    program = Launch(("/bin/bash", "--noprofile", "--norc", "-c", "true"), {"PATH": os.defpath})
    started = time.perf_counter()
    launch = sandbox.launch(program, RunRequest(confinement))
    ended = run_blocking(launch, timeout_s=60.0)
    assert ended.exit_code == 0, ended.stderr
    return (time.perf_counter() - started) * 1000
