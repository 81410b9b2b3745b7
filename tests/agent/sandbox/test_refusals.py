"""What a failed command printed becomes what it was refused, only where the policy forbids it."""

from __future__ import annotations

import pytest

from agent.sandbox.policy import Network, SandboxPolicy
from agent.sandbox.refusals import Refusal, RefusalKind, find_refusals
from agent.tools.shell.refused_note import refused_note
from agent.tools.shell.refused_tags import without_tags
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import MakeConfined

POLICY = SandboxPolicy(
    confinement=Confinement.PROJECT,
    cwd="/home/u/p",
    temp_dir="/home/u/.agent/tmp",
    write_roots=("/home/u/p",),
    pinned_directories=("/home/u/p/.git",),
    read_only=("/home/u/p/.git/hooks", "/home/u/p/.git/config"),
    secret=("/home/u/.ssh",),
    denied_paths=("/home/u/p/.env",),
    network=Network.OFF,
)


@pytest.mark.parametrize(
    ("line", "kind", "target", "rule"),
    [
        (
            "touch: cannot touch '/etc/x': Read-only file system",
            "write",
            "/etc/x",
            "outside the working directories",
        ),
        (
            "/bin/bash: line 1: ../x: Read-only file system",
            "write",
            "/home/u/x",
            "outside the working directories",
        ),
        (
            "/bin/bash: line 1: .git/hooks/a: Read-only file system",
            "write",
            "/home/u/p/.git/hooks/a",
            "a protected path",
        ),
        (
            "mv: cannot move '.git' to 'g': Device or resource busy",
            "write",
            "/home/u/p/.git",
            "a protected path",
        ),
        (
            "OSError: [Errno 30] Read-only file system: '/srv/y'",
            "write",
            "/srv/y",
            "outside the working directories",
        ),
        (
            "Error: EROFS: read-only file system, open '/home/u/.npm/x'",
            "write",
            "/home/u/.npm/x",
            "outside the working directories",
        ),
        (
            "cat: /home/u/.ssh/id: No such file or directory",
            "read",
            "/home/u/.ssh/id",
            "a secret",
        ),
        ("cat: .env: Permission denied", "read", "/home/u/p/.env", "a deny rule"),
        (
            "curl: (6) Could not resolve host: example.com",
            "connect",
            "example.com",
            "no network",
        ),
        (
            "fatal: unable to access 'https://git.example/x/': Could not resolve host: git.example",
            "connect",
            "git.example",
            "no network",
        ),
        (
            "npm ERR! getaddrinfo EAI_AGAIN registry.example",
            "connect",
            "registry.example",
            "no network",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
            "socket",
            "/var/run/docker.sock",
            "no Unix sockets",
        ),
        (
            "OSError: [Errno 97] Address family not supported by protocol",
            "socket",
            "",
            "no Unix sockets",
        ),
    ],
)
def test_a_message_names_what_was_refused(line: str, kind: str, target: str, rule: str) -> None:
    first = find_refusals(POLICY, f"some output\n{line}\n")[0]
    assert (str(first.kind), first.target, first.rule) == (kind, target, rule)


@pytest.mark.parametrize(
    "line",
    [
        "cat: missing: No such file or directory",
        "cat: /home/u/other: Permission denied",
        "everything is fine with /etc/passwd",
        "mkdir: cannot create directory 'src': File exists",
    ],
)
def test_what_the_policy_permits_is_not_reported(line: str) -> None:
    assert find_refusals(POLICY, line) == ()


def test_users_read_it_without_the_marks_for_the_model() -> None:
    note = refused_note(
        Confinement.PROJECT,
        [Refusal(RefusalKind.WRITE, "/etc/x", "outside the working directories")],
    )
    lines = "The sandbox refused (project):\n- write /etc/x: outside the working directories\n"
    assert note == f"<sandbox>\n{lines}</sandbox>"
    assert without_tags(f"output\n{note}\nand more") == f"output\n{lines}and more"


def test_a_unix_socket_that_no_message_names_is_reported(make_confined: MakeConfined) -> None:
    script = "import socket; socket.socket(socket.AF_UNIX).connect('x')"
    ended = make_confined().run(f'python3 -c "{script}"', Confinement.READ_ONLY)
    assert [str(one.kind) for one in ended.refusals] == ["socket"]
