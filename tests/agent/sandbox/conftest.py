"""A sandbox over a real project, and what runs in it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest
from msgspec import Struct

from agent.sandbox.availability import Availability, Backend
from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.launcher import landlock_version
from agent.sandbox.probe import probe
from agent.sandbox.refusals import Refusal
from agent.sandbox.sandbox import RunRequest, Sandbox
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement, SandboxLevel
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_set import RuleSet


class Outcome(Struct, frozen=True):
    """How a confined command ended."""

    exit_code: int | None
    output: str
    refusals: tuple[Refusal, ...]


class Confined(Struct, frozen=True):
    """A project and the sandbox around its commands."""

    sandbox: Sandbox
    project: Path
    home: Path
    outside: Path
    temp_dir: Path

    def run(
        self,
        command: str,
        confinement: Confinement,
        *,
        write_dirs: Sequence[Path] = (),
        program_env: Mapping[str, str] = MappingProxyType({}),
    ) -> Outcome:
        """Run a bash command to its end."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), **program_env}
        program = Launch(("/bin/bash", "--noprofile", "--norc", "-c", command), env, self.project)
        request = RunRequest(confinement, tuple(map(str, write_dirs)))
        launch = self.sandbox.launch(program, request)
        ended = run_blocking(launch, timeout_s=60.0)
        output = (ended.stdout + ended.stderr).decode(errors="replace")
        refusals: tuple[Refusal, ...] = ()
        if isinstance(launch.confined_run, SandboxRun):
            refusals = launch.confined_run.refusals(output, has_failed=ended.exit_code != 0)
        return Outcome(ended.exit_code, output, refusals)


@pytest.fixture(scope="session")
def available() -> Availability:
    """What this machine enforces; printed, so that no run is silently empty."""
    found = probe()
    print(f"sandbox level here: {found.level} {found.reason}")
    return found


FILES = Availability(SandboxLevel.FILES, Backend.LANDLOCK, reason="for a test")
NO_SETTINGS = SandboxSettings()
NO_CACHE_VARIABLES = MappingProxyType({"PATH": os.environ["PATH"]})
"""The user may have moved the cache of a package manager."""
MakeConfined = Callable[..., Confined]


@pytest.fixture
def make_confined(available: Availability, tmp_path: Path) -> Iterator[MakeConfined]:
    """Build a sandbox at level `full`, or at `files`; skips with the reason where there is none."""

    def make(
        *,
        level: SandboxLevel = SandboxLevel.FULL,
        settings: SandboxSettings = NO_SETTINGS,
        deny: Sequence[str] = (),
        allow: Sequence[str] = (),
        git: bool = False,
        protected: Sequence[str] = (),
        name: str = "",
        user_env: Mapping[str, str] = NO_CACHE_VARIABLES,
    ) -> Confined:
        if level is SandboxLevel.FULL and available.level is not level:
            pytest.skip(f"level {available.level}: {available.reason}")
        if level is SandboxLevel.FILES and not landlock_version():
            pytest.skip("no Landlock here")
        held = available if level is SandboxLevel.FULL else FILES
        home, outside = tmp_path / name / "home", tmp_path / name / "outside"
        project, temp_dir = home / "project", home / ".agent" / "sessions" / "scratch"
        for directory in (project, outside, temp_dir):
            directory.mkdir(parents=True)
        if git:
            subprocess.run(["git", "init", "-q", project], check=True)
        texts = [RuleText(rule, RuleBehavior.DENY, RuleSource.USER) for rule in deny]
        texts += [RuleText(rule, RuleBehavior.ALLOW, RuleSource.USER) for rule in allow]
        context = PermissionContext(
            mode=Mode.DEFAULT,
            rules=RuleSet.build(texts)[0],
            launch_dir=project,
            project_root=project,
            home=home,
            scratch_dir=temp_dir,
            own_dirs=(home / ".agent",),
            protected_files=frozenset(str(project / name) for name in protected),
        )
        sandbox = Sandbox(
            held,
            lambda: context,
            state_dir=home / ".agent" / "sandbox",
            user_env=lambda: user_env,
            settings=lambda: settings,
        )
        return Confined(sandbox, project, home, outside, temp_dir)

    yield make
    shutil.rmtree(tmp_path, ignore_errors=True)
