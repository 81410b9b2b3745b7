"""A conversation's tool services over a temporary project, with real files and processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent.abort import AbortController
from agent.tools.base import Tool, ToolContext, ToolError, ToolOutcome
from agent.tools.file_state import FileState
from agent.tools.services import ToolServices
from agent.tools.shell.shells import ShellRegistry
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


@dataclass
class DirectoryScope:
    """Everything below one folder."""

    directory: Path

    def is_inside(self, path: Path) -> bool:
        return Path(os.path.realpath(path)).is_relative_to(self.directory)

    def may_write(self, path: Path, also: Sequence[str] = ()) -> bool:
        return self.is_inside(path) or any(path.is_relative_to(one) for one in also)


@dataclass
class Mode:
    mode: str = "default"

    def enter_plan_mode(self) -> None:
        self.mode = "plan"

    def leave_plan_mode(self, mode: str) -> None:
        self.mode = mode


@dataclass
class Bench:
    """One project with a way to call tools in it."""

    root: Path
    services: ToolServices
    controller: AbortController = field(default_factory=AbortController)
    live: list[str] = field(default_factory=list)
    on_live: Callable[[str], None] | None = None

    @property
    def context(self) -> ToolContext:
        return ToolContext(
            tool_use_id="toolu_1",
            turn_id="turn",
            agent_id=None,
            abort=self.controller.signal,
            progress=self._progress,
            services=self.services,
        )

    def _progress(self, text: str) -> None:
        self.live.append(text)
        if self.on_live is not None:
            self.on_live(text)

    async def objection(self, tool: Tool[Any], **raw: Any) -> str | None:
        try:
            return await tool.validate(tool.parse(raw), self.context)
        except ToolError as error:
            return str(error)

    async def call(self, tool: Tool[Any], **raw: Any) -> ToolOutcome:
        """Validate as the lifecycle does, then run."""
        parsed = tool.parse(raw)
        objection = await tool.validate(parsed, self.context)
        assert objection is None, objection
        return await tool.run(parsed, self.context)

    async def text(self, tool: Tool[Any], **raw: Any) -> str:
        outcome = await self.call(tool, **raw)
        assert isinstance(outcome.content, str)
        return outcome.content

    def file(self, name: str, content: str | bytes = "") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    base = Path(os.path.realpath(tmp_path))
    root = base / "project"
    root.mkdir()
    (base / "scratch").mkdir()
    shells = ShellRegistry()
    services = ToolServices(
        launch_dir=root,
        cwd=root,
        home=base / "home",
        scratch_dir=base / "scratch",
        results_dir=base / "results",
        env={"PATH": os.environ["PATH"], "HOME": str(base / "home"), "LANG": "C.UTF-8"},
        reading=ReadingPrograms({"PATH": os.environ["PATH"]}, root, launch_unconfined),
        files=FileState(),
        shells=shells,
        scope=DirectoryScope(root),
        mode=Mode(),
        session_id="session",
    )
    yield Bench(root, services)
    await shells.kill_all()
