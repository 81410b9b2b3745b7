"""Everyday tools run for real under the confinements that write; registries are on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from pwd import getpwuid
from typing import Final, NamedTuple

import pytest

from agent.sandbox.sandbox import RunRequest
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined


class Tool(NamedTuple):
    """A tool, and commands that prove that it works."""

    name: str
    version: str
    command: str


IDENTITY: Final = "git -c user.name=a -c user.email=a@b.example"
# A registry of one package for npm, which asks for `left`, and files for pip and cargo.
REGISTRY: Final = """
import http.server, json, sys
class Registry(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if not self.path.endswith((".tgz", ".whl", "/tiny/", ".crate", ".json", "/right")):
            tarball = f"http://127.0.0.1:{self.server.server_port}/left-1.0.0.tgz"
            one = {"name": "left", "version": "1.0.0", "dist": {"tarball": tarball}}
            body = json.dumps({"name": "left", "dist-tags": {"latest": "1.0.0"},
                               "versions": {"1.0.0": one}}).encode()
            self.send_response(200); self.end_headers(); self.wfile.write(body)
        else:
            super().do_GET()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
open("port", "w").write(f"{server.server_port}\\n")
server.serve_forever()
"""
SERVER: Final = """
const http = require("http");
const server = http.createServer((request, response) => response.end("hi"));
server.listen(0, "127.0.0.1", () =>
  http.get({port: server.address().port}, (answer) => answer.on("data", () => process.exit(0))));
"""
TEST: Final = """
import multiprocessing, sqlite3
def test_all(tmp_path):
    (tmp_path / "x").write_text("x")
    sqlite3.connect(tmp_path / "d").execute("create table t (x)")
    multiprocessing.Queue().put(1)
"""
SERVED: Final = "until [ -s port ]; do sleep 0.02; done; read -r port < port"
TOOLS: Final = (
    Tool(
        "git",
        "git --version",
        f"echo a > a && git add a && {IDENTITY} commit -qm first && git checkout -qb topic && "
        f"echo b >> a && {IDENTITY} stash -q && {IDENTITY} stash pop -q && git diff --stat && "
        f"{IDENTITY} commit -qam second && git tag v1 && git gc -q && git log --oneline",
    ),
    Tool(
        "python",
        f"{sys.executable} -m pytest --version",
        f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q test_all.py",
    ),
    Tool(
        "pip",
        "python3 -m pip --version",
        "cd served && { python3 ../registry.py & } && " + SERVED + " && cd .. && "
        # A copy of pip in the environment takes ten times as long to write as all the rest.
        "python3 -m venv --without-pip --system-site-packages v && v/bin/python -m pip install -q "
        "--disable-pip-version-check --index-url http://127.0.0.1:$port/simple/ tiny && "
        "v/bin/python -c 'import tiny' && test -f v/lib/python3*/site-packages/tiny.py",
    ),
    Tool(
        "npm",
        "npm --version",
        "cd served && { python3 ../registry.py & } && " + SERVED + " && cd .. && "
        "echo '{}' > package.json && npm install --no-audit --no-fund --loglevel=error "
        "--registry http://127.0.0.1:$port left && node -e 'require(\"left\")'",
    ),
    Tool(
        "node",
        "node --version",
        "node server.js",
    ),
    Tool(
        "make",
        "make --version",
        "printf 'int main(void) { return 0; }\\n' > a.c && printf 'a: a.c\\n\\tcc -o a a.c\\n' "
        "> Makefile && make && ./a",
    ),
    Tool(
        "cargo",
        "cargo --version",
        "cd served && { python3 ../registry.py & } && " + SERVED + " && "
        "echo '{\"dl\": \"http://127.0.0.1:'$port'/{crate}.crate\"}' > config.json && cd .. && "
        "cargo init -q --vcs none --name a && export CARGO_HOME=$PWD/home && "
        "export CARGO_REGISTRIES_OWN_INDEX=sparse+http://127.0.0.1:$port/ && "
        "cargo add -q --registry own right && cargo fetch -q && cargo build -q --offline && "
        "./target/debug/a",
    ),
)


def _serve(directory: Path) -> None:
    """Put a registry and a package for pip and for npm there."""
    served = directory / "served"
    (served / "package").mkdir(parents=True)
    (directory / "registry.py").write_text(REGISTRY)
    (directory / "test_all.py").write_text(TEST)
    (directory / "server.js").write_text(SERVER)
    manifest = {"name": "left", "version": "1.0.0", "main": "index.js"}
    (served / "package" / "package.json").write_text(json.dumps(manifest))
    (served / "package" / "index.js").write_text("module.exports = 1\n")
    subprocess.run(["tar", "czf", "left-1.0.0.tgz", "package"], cwd=served, check=True)
    crate = served / "right-1.0.0"
    (crate / "src").mkdir(parents=True)
    (crate / "src" / "lib.rs").touch()
    (crate / "Cargo.toml").write_text('[package]\nname = "right"\nversion = "1.0.0"\n')
    subprocess.run(["tar", "czf", "right.crate", crate.name], cwd=served, check=True)
    digest = hashlib.sha256((served / "right.crate").read_bytes()).hexdigest()
    row = {"name": "right", "vers": "1.0.0", "deps": [], "cksum": digest, "features": {}}
    (served / "ri" / "gh").mkdir(parents=True)
    (served / "ri" / "gh" / "right").write_text(json.dumps({**row, "yanked": False}) + "\n")
    tiny = served / "simple" / "tiny"
    tiny.mkdir(parents=True)
    with zipfile.ZipFile(tiny / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", "")
        info = "tiny-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        tag = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{info}/WHEEL", tag)
        wheel.writestr(f"{info}/RECORD", "")


def _run(confined: Confined, command: str, confinement: Confinement) -> tuple[int | None, str]:
    env = {"PATH": os.environ["PATH"], "HOME": str(confined.home)}
    for name, usual in (("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")):
        real = Path(os.environ.get(name) or f"{getpwuid(os.getuid()).pw_dir}/{usual}")
        if real.is_dir():
            env[name] = str(real)
    bash = ("/bin/bash", "--noprofile", "--norc", "-c", command)
    program = Launch(bash, env, confined.project)
    ended = run_blocking(
        confined.sandbox.launch(program, RunRequest(confinement, command=command)), timeout_s=240.0
    )
    return ended.exit_code, (ended.stdout + ended.stderr).decode(errors="replace")


@pytest.mark.parametrize("confinement", [Confinement.PROJECT, Confinement.PROJECT_FILES])
@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_it_works_inside(make_confined: MakeConfined, tool: Tool, confinement: Confinement) -> None:
    confined = make_confined(git=True)
    needed = {"npm": "node", "make": "cc", "python": sys.executable, "pip": "python3"}
    for program in (needed.get(tool.name, tool.name), tool.version.split()[0]):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed here")
    _serve(confined.project)
    code, printed = _run(confined, tool.command, confinement)
    if code != 0:
        code, version = _run(confined, tool.version, confinement)
        if code != 0:
            pytest.skip(f"{tool.name} does not run here: {version}")
        pytest.fail(f"{version}{printed}")
