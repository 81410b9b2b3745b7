"""A place for hooks to run in: temporary project and home, and a runner from a `hooks` section."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from hooks.config.config import HookLayer, build_config
from hooks.config.spec import HookSource
from hooks.ports import HookPorts, HookSession
from hooks.runner import HookRunner


@dataclass
class Place:
    """Temporary folders, and runners made in them."""

    root: Path
    runners: list[HookRunner] = field(default_factory=list)

    @property
    def project(self) -> Path:
        return self.root / "my project"

    @property
    def home(self) -> Path:
        return self.root / "home dir"

    @property
    def env(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def session(self) -> HookSession:
        return HookSession(
            session_id="session-1",
            transcript_path=self.root / "transcript.jsonl",
            project_dir=self.project,
            home=self.home,
            state_dir=self.root / "state",
            cwd=self.project,
            permission_mode="default",
            pid=4242,
        )

    def layered(
        self,
        *layers: HookLayer,
        session: HookSession | None = None,
        ports: HookPorts | None = None,
        env: Mapping[str, str] | None = None,
    ) -> HookRunner:
        ports = replace(ports or HookPorts(), env={**self.env, **(env or {})})
        runner = HookRunner(build_config(layers), session=session or self.session(), ports=ports)
        self.runners.append(runner)
        return runner

    def runner(
        self,
        event: str,
        *handlers: Mapping[str, object] | str,
        matcher: str | None = None,
        ports: HookPorts | None = None,
        env: Mapping[str, str] | None = None,
        session: HookSession | None = None,
    ) -> HookRunner:
        """Return a runner with one group of handlers; a text is a command."""
        full = [
            {"type": "command", "command": handler} if isinstance(handler, str) else dict(handler)
            for handler in handlers
        ]
        group: dict[str, object] = {"hooks": full}
        if matcher is not None:
            group["matcher"] = matcher
        layer = HookLayer(HookSource.PROJECT, {"hooks": {event: [group]}}, file="settings.json")
        return self.layered(layer, ports=ports, env=env, session=session)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    made.project.mkdir()
    made.home.mkdir()
    yield made
    for runner in made.runners:
        await runner.aclose()


MakeRunner = Callable[..., HookRunner]
