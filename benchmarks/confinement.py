"""The cost of confinement: one bash command, unconfined and under each confinement."""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from agent.sandbox.network.call_access import SessionAccess
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.host_rules import HostRules
from agent.sandbox.network.session_network import SessionNetwork
from agent.sandbox.policy import Network
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import RunRequest, Sandbox
from benchmarks.figures import Figure
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement, can_hold
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet

_REQUESTS: Final = {
    "bare": RunRequest(Confinement.NONE),
    "read_only": RunRequest(Confinement.READ_ONLY),
    "project": RunRequest(Confinement.PROJECT),
    "project with hosts": RunRequest(Confinement.PROJECT, network=Network.SESSION),
    "project_files": RunRequest(Confinement.PROJECT_FILES),
}
_LIMITS: Final = RunLimits(60.0)


def measure_confinement(*, quick: bool) -> Iterator[Figure]:
    """Yield the time of a bash command: unconfined in ms, confined as a multiple of that."""
    with tempfile.TemporaryDirectory(prefix="bench-confined-") as scratch:
        sandbox = _sandbox(Path(scratch))
        times = asyncio.run(_times(sandbox, 10 if quick else 50))
    bare = statistics.median(times["bare"][1:])
    yield Figure("bash, bare: one command", bare, "ms")
    for name, times_ms in times.items():
        if name != "bare":
            later = statistics.median(times_ms[1:])
            yield Figure(f"bash, {name}: the first command more", times_ms[0] - bare, "ms")
            yield Figure(f"bash, {name}: a later command more", later - bare, "ms")
            yield Figure(f"bash, {name}: a later command to a bare one", later / bare, "x")


async def _times(sandbox: Sandbox, rounds: int) -> dict[str, list[float]]:
    """Return times in ms by kind; the kinds alternate, so that all meet the same load."""
    sandbox.network = SessionNetwork(HostGate(HostRules), env={})
    names = [
        name for name, request in _REQUESTS.items() if can_hold(sandbox.level, request.confinement)
    ]
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            times[name].append(await _run(sandbox, sandbox.network, _REQUESTS[name]))
    await sandbox.aclose()
    return times


def _sandbox(scratch: Path) -> Sandbox:
    """Return a sandbox for a git repository with 1,000 files in 50 directories."""
    project, temp_dir = scratch / "home" / "project", scratch / "home" / ".agent" / "tmp"
    for directory in (temp_dir, *(project / f"package{number}" for number in range(50))):
        directory.mkdir(parents=True)
        for number in range(20):
            (directory / f"module{number}.py").touch()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=project,
        project_root=project,
        home=scratch / "home",
        scratch_dir=temp_dir,
    )
    return Sandbox(
        probe(), lambda: context, state_dir=scratch / "state", user_env=lambda: os.environ
    )


async def _run(sandbox: Sandbox, network: SessionNetwork, request: RunRequest) -> float:
    bash = ("/bin/bash", "--noprofile", "--norc", "-c", "true")
    program = Launch(bash, {"PATH": os.defpath})
    start = time.perf_counter()
    access = None
    if request.network is Network.SESSION:
        await network.start()
        access = SessionAccess(network, NetworkCall("bench"), program.env)
    launch = await asyncio.to_thread(sandbox.launch, program, request, access)
    result = await run_program(launch, _LIMITS)
    assert result.exit_code == 0, result.stderr
    return (time.perf_counter() - start) * 1000
