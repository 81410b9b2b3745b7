"""Under `project_files` sockets of the host are there, but for daemons that run what they get."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.launcher import landlock_version
from agent.sandbox.protected import daemon_sockets as module
from agent.sandbox.protected.daemon_sockets import daemon_sockets, harmless_sockets
from agent.sandbox.refusals import RefusalKind
from agent.sandbox.sandbox import RunRequest
from permissions.base.process.run_program import run_blocking
from permissions.base.process.socket_scope import start_in_scope
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined


def _reached(confined: Confined, path: Path) -> tuple[bool, str]:
    """Return whether a socket is reached, and what was reported."""
    code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(path)!r})"
    script = f'python3 -c "{code}" || {{ echo "Cannot connect to {path}"; exit 1; }}'
    env = {"PATH": os.environ["PATH"], "HOME": str(confined.home)}
    program = Launch(("/bin/bash", "--norc", "-c", script), env, confined.project)
    launch = confined.sandbox.launch(program, RunRequest(Confinement.PROJECT_FILES))
    ended = run_blocking(launch, timeout_s=60.0)
    assert isinstance(launch.confined_run, SandboxRun)
    refused = launch.confined_run.refusals((ended.stdout + ended.stderr).decode())
    return ended.exit_code == 0, " ".join(
        f"{one.target}: {one.rule}" for one in refused if one.kind is RefusalKind.SOCKET
    )


def _listening(path: Path) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@pytest.mark.parametrize(
    ("name", "opened", "is_reached"),
    [
        ("docker.sock", "", False),
        ("agent.sock", "", True),
        ("other.sock", "", True),
        ("docker.sock", "all", True),
        ("docker.sock", "docker.sock", True),
        ("docker.sock", "other.sock", False),
    ],
)
def test_a_daemon_that_runs_what_it_is_sent_is_not_reached(
    name: str, opened: str, is_reached: bool, make_confined: MakeConfined, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    addresses = {
        "DOCKER_HOST": f"unix://{home}/docker.sock",
        "SSH_AUTH_SOCK": str(home / "agent.sock"),
    }
    confined = make_confined(user_env={**os.environ, **addresses})
    named = () if opened == "all" else (str(confined.home / opened),)
    settings = SandboxSettings(all_unix_sockets=opened == "all", unix_sockets=named)
    confined.sandbox.settings = lambda: settings
    path = confined.home / name
    with _listening(confined.home / "docker.sock"), contextlib.ExitStack() as stack:
        if name != "docker.sock":
            stack.enter_context(_listening(path))
        reached, refused = _reached(confined, path)
    assert reached is is_reached
    assert refused == ("" if is_reached else f"{path}: a daemon that runs what it is sent")


@pytest.mark.parametrize(
    ("variable", "value", "is_reached"),
    [
        ("MYSQL_UNIX_PORT", "{project}", True),
        ("TMUX", "{path},123,0", False),
        ("KITTY_LISTEN_ON", "unix:{path}", False),
        ("SOME_EDITOR", "{path}", False),
        ("SSH_AUTH_SOCK", "{path}", True),
        ("SOME_PATH", "{path}.other:/usr/bin", True),
    ],
)
def test_what_the_user_works_in_takes_no_keys_from_a_command(
    variable: str, value: str, is_reached: bool, make_confined: MakeConfined, tmp_path: Path
) -> None:
    """A terminal multiplexer types what it is sent, also an answer to a question."""
    home = tmp_path / "home"
    path = home / "project" / "db.sock" if value == "{project}" else home / "keys.sock"
    named = value.format(path=path, project=path)
    confined = make_confined(user_env={**os.environ, variable: named})
    with _listening(path):
        assert _reached(confined, path)[0] is is_reached


def test_what_the_user_has_below_run_is_of_the_users_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RUN", str(tmp_path))
    for name in ("screen/S-me/1.tty", "user/1000/bus", "own/x", "screen.lock"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "screen").chmod(0o1777)
    paths = {os.path.relpath(one, tmp_path) for one in module._of_this_user()}
    # Of root only what is in a directory of all users: the rest is the system's.
    assert paths == ({"screen/S-me"} if os.getuid() == 0 else {"screen", "own", "screen.lock"})


def test_they_are_found_where_programs_look_for_them(tmp_path: Path) -> None:
    home, runtime = tmp_path / "home", tmp_path / "run"
    places = [home / ".docker/run/docker.sock", tmp_path / "bus"]
    for place in (places[0], runtime / "wayland-0", runtime / "nvim.1.0"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    with _listening(places[1]):
        pass
    places.append(runtime)
    bus = f"unix:path={places[1]},x=1"
    env = {"XDG_RUNTIME_DIR": str(runtime), "DBUS_SESSION_BUS_ADDRESS": bus}
    found = {one for one in daemon_sockets(home, env) if one.startswith(str(tmp_path))}
    assert found == set(map(str, places))
    link = tmp_path / "link"
    link.symlink_to(places[0])
    allowed = daemon_sockets(home, env, [str(link)])
    assert {one for one in allowed if one.startswith(str(tmp_path))} == found - {str(places[0])}
    assert harmless_sockets(env) == (str(runtime / "wayland-0"),)
    opened = runtime / "nvim.1.0"
    assert harmless_sockets(env, [str(opened)]) == (str(runtime / "wayland-0"), str(opened))


@pytest.mark.parametrize(
    ("name", "is_reached"), [("wayland-0", True), ("sway-ipc.sock", False), ("nvim.1.0", False)]
)
def test_of_the_users_session_what_is_known_is_reached(
    name: str, is_reached: bool, make_confined: MakeConfined, tmp_path: Path
) -> None:
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    confined = make_confined(user_env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)})
    with _listening(runtime / name):
        assert _reached(confined, runtime / name)[0] is is_reached


_CONNECT = "import socket; socket.socket(socket.AF_UNIX).connect({address!r})"
_OWN = "import socket; own = socket.socket(socket.AF_UNIX); own.bind({address!r}); own.listen(); "


@pytest.mark.parametrize(
    ("code", "opens_all", "is_reached"),
    [
        (_CONNECT, False, False),
        (_CONNECT, True, True),
        (_OWN.replace("{address", "{other") + _CONNECT.replace("{address", "{other"), False, True),
    ],
    ids=["of the host", "of the host, opened", "its own"],
)
def test_a_socket_without_a_path_is_reached_only_inside(
    code: str, opens_all: bool, is_reached: bool, make_confined: MakeConfined
) -> None:
    if landlock_version() < 6:
        pytest.skip("this kernel cannot scope abstract sockets")
    confined = make_confined()
    settings = SandboxSettings(all_unix_sockets=opens_all)
    confined.sandbox.settings = lambda: settings
    address = f"\0{confined.home}/.X11-unix/X0"
    program = Launch(
        (sys.executable, "-c", code.format(address=address, other=f"{address}-own")),
        {"PATH": os.environ["PATH"], "HOME": str(confined.home)},
        confined.project,
    )
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        launch = confined.sandbox.launch(program, RunRequest(Confinement.PROJECT_FILES))
        ended = run_blocking(launch, timeout_s=60.0)
    assert (ended.exit_code == 0) is is_reached, ended.stderr


def test_only_the_thread_that_starts_such_programs_is_restricted(tmp_path: Path) -> None:
    address = f"\0agent-tui-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(address)
        server.listen()
        thread_id = start_in_scope(threading.get_ident)
        assert thread_id == start_in_scope(threading.get_ident)
        client.connect(address)
    with pytest.raises(FileNotFoundError):
        start_in_scope(lambda: os.stat(tmp_path / "missing"))
