"""A real namespace, as root and as a user without rights; what was exercised is printed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.sandbox.network import namespace_child
from tests.agent.sandbox.network import namespace_scenarios

ROOT = Path(__file__).resolve().parents[4]
NOBODY = 65534


def _python_for(user: int) -> str | None:
    """Return an interpreter that the user may run, of the version that the libraries are for."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (
        sys.executable,
        f"/usr/bin/python{version}",
        f"/usr/local/bin/python{version}",
    ):
        probe = "import os; print(os.getuid())"
        try:
            ended = subprocess.run(
                [candidate, "-I", "-c", probe], user=user, cwd="/", capture_output=True, check=False
            )
        except OSError:
            continue
        if ended.returncode == 0:
            return candidate
    return None


@pytest.fixture(params=["this user", "nobody"])
def user(request: pytest.FixtureRequest) -> int | None:
    """None for the user who runs the tests."""
    if request.param == "this user":
        return None
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    if _python_for(NOBODY) is None:
        pytest.skip("no interpreter that the user nobody may run")
    if subprocess.run(["test", "-r", __file__], user=NOBODY, check=False).returncode:
        pytest.skip("a checkout that the user nobody may not read, such as below /root")
    return NOBODY


def _env() -> dict[str, str]:
    path = f"{ROOT}:{sysconfig.get_paths()['purelib']}"
    return {"PATH": os.defpath, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _run(scenario: str, user: int | None) -> Mapping[str, object]:
    """Run a scenario; skip where the kernel makes no namespaces."""
    python = sys.executable if user is None else _python_for(user)
    ended = subprocess.run(
        [
            str(python), "-W", "error", namespace_scenarios.__file__, scenario,
            *([] if user is None else [str(user)]),
        ],
        env=_env(),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ended.stderr == ""
    found = json.loads(ended.stdout)
    assert isinstance(found, dict)
    if "refused" in found:
        reason = f"user {user or os.getuid()}: no network namespaces here: {found['refused']}"
        print(reason)
        pytest.skip(reason)
    print(f"exercised: network namespace as user {user if user is not None else os.getuid()}")
    return found


def test_inside_there_is_the_proxy_and_nothing_else(user: int | None) -> None:
    found = _run("inside", user)
    assert found["user"] == str(os.getuid() if user is None else user)
    assert found["proxy"] == "connected"
    assert "unreachable" in str(found["outside"])
    # The host has a server there.
    assert "ConnectionRefusedError" in str(found["host loopback"])
    assert "gaierror" in str(found["name"])
    assert str(found["refused host"]).startswith("403 blocked-by-allowlist agent-tui sandbox: ")
    assert "403" in str(found["refused tls"])
    assert found["refusals"] == [
        ["example.com", 80, "blocked-by-allowlist"],
        ["example.com", 443, "blocked-by-allowlist"],
    ]


def test_a_program_inside_inherits_nothing_of_ours(user: int | None) -> None:
    found = _run("inside", user)
    assert found["descriptors"] == "3"
    ignored = int(str(found["ignored signals"]), 16)
    assert ignored & (1 << 12 | 1 << 24) == 0  # SIGPIPE, SIGXFSZ


def test_a_server_of_one_call_is_there_for_the_next_and_not_for_the_host(user: int | None) -> None:
    assert _run("servers", user) == {"second call": "200", "host": "ConnectionRefusedError"}


def test_the_end_leaves_nothing(user: int | None) -> None:
    found = _run("closed", user)
    assert found == {"was own": True, "left": False, "closed descriptors": 3}


def test_a_kill_leaves_nothing(user: int | None) -> None:
    """The program that runs inside is ended by the guardian; nothing else holds the namespace."""
    found = _run("killed", user)
    namespace = found["namespace"]
    assert isinstance(namespace, str)
    assert namespace.startswith("net:[")
    assert found["child"] != 0
    while namespace in _all_namespaces():  # pytest ends this if it never comes true
        os.sched_yield()


def _all_namespaces() -> set[str]:
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/net"))
        except OSError:
            continue
    return found


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_refusal_of_the_system_is_reported() -> None:
    """The limit counts inside a namespace of the test's own."""
    limit = "/proc/sys/user/max_user_namespaces"
    script = f'echo 0 > {limit} || {{ echo "{{}}"; exit; }}; exec "$@"'
    ended = subprocess.run(
        [
            "unshare", "--user", "--map-root-user", "sh", "-c", script, "sh",
            sys.executable, namespace_scenarios.__file__, "inside",
        ],
        env=_env(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode != 0 or not json.loads(ended.stdout):
        pytest.skip(f"user namespaces cannot be limited here: {ended.stderr}")
    assert json.loads(ended.stdout) == {"refused": "unshare: No space left on device"}


def test_what_cannot_be_joined_runs_nothing(tmp_path: Path) -> None:
    """With a descriptor that is no namespace the program is not started outside of one."""
    with (tmp_path / "file").open("w") as file:
        descriptor = file.fileno()
        ended = subprocess.run(
            [
                sys.executable, "-I", "-S", namespace_child.__file__, "join", str(descriptor),
                str(descriptor), "/bin/sh", "-c", "echo ran",
            ],
            pass_fds=[descriptor], capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (namespace_child.FAILED, "")
    assert ended.stderr.startswith("agent-tui sandbox: network namespace: setns: ")
