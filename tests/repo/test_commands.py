"""The commands that documents and CI name exist."""

from __future__ import annotations

import os
import re
import subprocess

from tests.repo.checkout import ROOT, tracked_texts

_TARGET = re.compile(r"^((?:[a-z-]+ ?)+):", re.MULTILINE)
_NAMED = re.compile(r"^(?:make ([a-z][a-z-]*)|.*`make ([a-z][a-z-]*))", re.MULTILINE)


def _targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return {name for line in _TARGET.findall(text) for name in line.split()}


def test_every_make_command_in_the_documents_has_a_target() -> None:
    named = {
        first or second
        for path, text in tracked_texts().items()
        if path.suffix == ".md"
        for first, second in _NAMED.findall(text)
    }
    assert {"run", "test", "check"} <= named
    assert named - _targets() == set()


def test_ci_runs_the_tests_and_the_checks() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
    commands = re.findall(r"^make ([a-z]+)", script.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands == ["test", "check", "conformance"]
