"""Every command that the corpora allow runs for real, and does what its decision assumed.

Commands of one section run one after another in one sandbox, at most as wide as their decision:
never with the network of the host, since the corpora name `npm install` and `docker run`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.sandbox.refusals import RefusalKind, find_refusals
from agent.sandbox.sandbox import RunRequest
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement
from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.request import PermissionRequest
from tests.agent.sandbox.conftest import Confined, MakeConfined
from tests.permissions.engine import FULL, Engine
from tests.permissions.test_commands import CLASSIFIER, sections
from tests.soak.scale import IS_SOAK

RUNNER = """
for file in "$TMPDIR"/commands/*; do
  echo "@@@ ${file##*/}"
  timeout -k 1 2 bash --noprofile --norc "$file" </dev/null >"$TMPDIR/output" 2>&1
  IFS= read -r -N 20000 text <"$TMPDIR/output"
  printf '%s\n' "$text"
done
"""
FILES = {
    "README.md": "hello world\n",
    "src/app.py": "import os\nprint('hello')\n",
    "src/index.js": "console.log('hello')\n",
    "tests/test_app.py": "def test_it():\n    assert True\n",
    "package.json": '{"name": "sample", "scripts": {"test": "true", "build": "true"}}\n',
    "Makefile": "all:\n\t@echo made\ntest:\n\t@echo tested\n",
    "data.json": '{"a": [1, 2]}\n',
    "build/out.txt": "old\n",
}


def _allowed(confined: Confined, header: str, commands: list[str]) -> dict[Confinement, list[str]]:
    """Return what is allowed at level `full`, by its confinement."""
    rules = [] if header == CLASSIFIER else header.split(" | ")
    context = Engine(confined.project, confined.home).context(allow=rules, sandbox=FULL)
    allowed: dict[Confinement, list[str]] = {}
    for command in commands:
        request = PermissionRequest("Bash", {"command": command})
        decision = decide_with_classifier(request, context)
        if decision.behavior is Behavior.ALLOW and decision.confinement is not None:
            allowed.setdefault(decision.confinement, []).append(command)
    return allowed


def _digest(directory: Path, *, without: Path | None = None) -> str:
    """Return a digest of all names and contents below a directory, less the sandbox's own."""
    digest = hashlib.sha256()
    for where, directories, files in os.walk(directory):
        directories.sort()
        if Path(where) in (without, directory / ".agent" / "sandbox"):
            directories.clear()
            continue
        for name in sorted(files):
            path = Path(where, name)
            digest.update(str(path).encode() + b"\0")
            digest.update(b"" if path.is_symlink() else path.read_bytes())
    return digest.hexdigest()


def _sample(confined: Confined) -> None:
    for name, text in FILES.items():
        path = confined.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git = ["git", "-C", str(confined.project), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for arguments in (["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *arguments], check=True)


def _run(confined: Confined, commands: list[str], confinement: Confinement) -> list[str]:
    """Run the commands; return the output of each."""
    directory = confined.temp_dir / "commands"
    directory.mkdir()
    for number, command in enumerate(commands):
        (directory / f"{number:05}").write_text(command)
    env = {"PATH": os.defpath, "HOME": str(confined.home), "LANG": "C.UTF-8"}
    program = Launch(("/bin/bash", "--noprofile", "--norc", "-c", RUNNER), env, confined.project)
    launch = confined.sandbox.launch(program, RunRequest(confinement))
    ended = run_blocking(launch, timeout_s=600.0)
    return re.split(r"(?m)^@@@ \d{5}$", ended.stdout.decode(errors="replace"))[1:]


SLOW = ("npm", "pip", "pytest", "cargo", "helm")
"""Programs that take a second each to start, or to fail without a network: of `make soak`."""
SECTIONS = [
    (header, [one for one in commands if IS_SOAK or not any(f"{name} " in one for name in SLOW)])
    for header, commands in sections("allowed.txt")
    if IS_SOAK or not any(f"({name} " in header for name in SLOW)
]


@pytest.mark.parametrize(("header", "commands"), SECTIONS, ids=lambda value: str(value)[:60])
def test_what_is_allowed_does_what_was_assumed(
    header: str, commands: list[str], make_confined: MakeConfined
) -> None:
    surprises: list[tuple[str, str]] = []
    confined = make_confined(git=True, name="first")
    _sample(confined)
    allowed = _allowed(confined, header, commands)
    allowed.pop(Confinement.NONE, None)  # the user's own word for this very text
    for number, confinement in enumerate(allowed):
        if number:
            confined = make_confined(git=True, name=str(confinement))
            _sample(confined)
        surprises += _surprises(confined, confinement, allowed[confinement])
    assert surprises == []


def _surprises(
    confined: Confined, confinement: Confinement, commands: list[str]
) -> Iterator[tuple[str, str]]:
    """Run commands and yield each write that was refused, with its command."""
    reads = confinement is Confinement.READ_ONLY
    kept = None if reads else confined.project
    before = _digest(confined.home, without=kept)
    held = Confinement.READ_ONLY if reads else Confinement.PROJECT
    outputs = _run(confined, commands, held)
    policy = confined.sandbox.policy(RunRequest(held), Launch(("/bin/bash",), {}, confined.project))
    shutil.rmtree(confined.temp_dir)
    confined.temp_dir.mkdir()
    assert _digest(confined.home, without=kept) == before
    for command, output in zip(commands, outputs, strict=True):
        for refusal in find_refusals(policy, output):
            is_placeholder = refusal.target in policy.missing_directories
            if refusal.kind is RefusalKind.WRITE and not is_placeholder:
                yield command, str(refusal.as_json())
