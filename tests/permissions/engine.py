"""A project on disk and a short way to ask the engine about a call in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import Decision
from permissions.evaluate.cascade import decide
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText

FULL = SandboxState(SandboxLevel.FULL)
FILES = SandboxState(SandboxLevel.FILES)
NOTHING = SandboxState(SandboxLevel.NONE)
INSIDE = SandboxState(SandboxLevel.FULL, works_inside=True)


@dataclass(frozen=True)
class Engine:
    """The engine in one project; rules are user settings unless said otherwise."""

    root: Path
    home: Path

    def context(
        self,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
        mode: Mode = Mode.DEFAULT,
        source: RuleSource = RuleSource.USER,
        texts: Iterable[RuleText] = (),
        trusted: bool = True,
        bypass_available: bool = True,
        policy: Mapping[str, object] | None = None,
        additional_dirs: tuple[Path, ...] = (),
        sandbox: SandboxState = FULL,
    ) -> PermissionContext:
        given = [
            *(RuleText(text, RuleBehavior.ALLOW, source) for text in allow),
            *(RuleText(text, RuleBehavior.DENY, source) for text in deny),
            *(RuleText(text, RuleBehavior.ASK, source) for text in ask),
            *texts,
        ]
        return PermissionContext(
            mode=mode,
            rules=RuleSet.build(given)[0],
            launch_dir=self.root,
            project_root=self.root,
            home=self.home,
            is_trusted=trusted,
            bypass_available=bypass_available,
            policy=policy or {},
            additional_dirs=additional_dirs,
            sandbox=sandbox,
        )

    def bash(
        self,
        command: str,
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
        mode: Mode = Mode.DEFAULT,
        sandbox: SandboxState = FULL,
    ) -> Decision:
        context = self.context(allow=allow, deny=deny, ask=ask, mode=mode, sandbox=sandbox)
        return decide(PermissionRequest("Bash", {"command": command}), context)

    def call(
        self,
        tool: str,
        tool_input: Mapping[str, object],
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        ask: Iterable[str] = (),
        mode: Mode = Mode.DEFAULT,
        sandbox: SandboxState = FULL,
    ) -> Decision:
        context = self.context(allow=allow, deny=deny, ask=ask, mode=mode, sandbox=sandbox)
        return decide(PermissionRequest(tool, tool_input), context)


def make_engine(base: Path) -> Engine:
    """Lay out a small project with links that leave it."""
    root, home, outside = base / "project", base / "home", base / "outside"
    for directory in (root / "src", root / "sub", root / ".git" / "hooks", home, outside):
        directory.mkdir(parents=True)
    for file in (root / "src" / "a.py", root / ".env", outside / "secret.txt"):
        file.write_text("text\n")
    (root / "outlink").symlink_to(outside)
    (root / "dangling").symlink_to(outside / "missing")
    (root / "loop").symlink_to(root / "loop")
    (root / "alias.env").symlink_to(root / ".env")
    return Engine(root, home)
