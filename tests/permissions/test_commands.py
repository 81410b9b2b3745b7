"""Some thousand commands: attacks that a rule must not let through, everyday work that it must.

The commands stand in `commands/*.txt`, one on a line below the rules they are asked with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from permissions.confinement import Confinement, SandboxLevel
from permissions.context import SandboxState
from permissions.decision import Behavior, Decision
from permissions.evaluate.cascade import decide
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine

DIRECTORY = Path(__file__).parent / "commands"
CLASSIFIER = "local classifier"
LEADS_OUT = re.compile(r"\.\.|~|[ =]/")


def sections(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the rules in brackets with the commands below them."""
    header, commands = "", list[str]()
    for line in (DIRECTORY / name).read_text("utf-8").splitlines():
        if line.startswith(("[Bash", "[local")) and line.endswith("]"):
            if commands:
                yield header, commands
            header, commands = line[1:-1], []
        elif header and line:
            commands.append(line.replace("<NL>", "\n").replace("<TAB>", "\t"))
    yield header, commands


def _decision(engine: Engine, header: str, command: str, sandbox: SandboxState) -> Decision:
    rules = [] if header == CLASSIFIER else header.split(" | ")
    request = PermissionRequest("Bash", {"command": command})
    return decide_with_classifier(request, engine.context(allow=rules, sandbox=sandbox))


def _is_allowed(engine: Engine, header: str, command: str, sandbox: SandboxState) -> bool:
    return _decision(engine, header, command, sandbox).behavior is Behavior.ALLOW


def _name(value: object) -> str:
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize(("header", "commands"), [*sections("refused.txt")], ids=_name)
def test_a_rule_does_not_let_through(engine: Engine, header: str, commands: list[str]) -> None:
    none, full = SandboxState(), SandboxState(SandboxLevel.FULL)
    assert [text for text in commands if _is_allowed(engine, header, text, none)] == []
    # A path that leads out may be given where the kernel keeps what is written inside.
    inside = [text for text in commands if not LEADS_OUT.search(text)]
    assert [text for text in inside if _is_allowed(engine, header, text, full)] == []


@pytest.mark.parametrize(("header", "commands"), [*sections("outside.txt")], ids=_name)
def test_nothing_lets_through(engine: Engine, header: str, commands: list[str]) -> None:
    allowed = [text for text in commands if _is_allowed(engine, header, text, SandboxState())]
    assert allowed == []
    # Where it writes into the project alone, a rule covers what is not proven to lead out.
    full = SandboxState(SandboxLevel.FULL)
    held = [text for text in commands if _is_allowed(engine, header, text, full)]
    confinements = {_decision(engine, header, text, full).confinement for text in held}
    assert confinements <= {Confinement.PROJECT_FILES, Confinement.PROJECT}


@pytest.mark.parametrize(("header", "commands"), [*sections("denied.txt")], ids=_name)
def test_a_deny_finds_its_command(engine: Engine, header: str, commands: list[str]) -> None:
    context = engine.context(allow=header.split(" | "), deny=["Bash(rm *)"], mode=Mode.BYPASS)
    missed = [
        text
        for text in commands
        if decide(PermissionRequest("Bash", {"command": text}), context).behavior
        is not Behavior.DENY
    ]
    assert missed == []


@pytest.mark.parametrize(("header", "commands"), [*sections("unread.txt")], ids=_name)
def test_what_reads_or_sends_a_denied_file_is_not_allowed(
    engine: Engine, header: str, commands: list[str]
) -> None:
    context = engine.context(allow=header.split(" | "), deny=["Read(.env)"], mode=Mode.BYPASS)
    missed = [
        text
        for text in commands
        if decide(PermissionRequest("Bash", {"command": text}), context).behavior is Behavior.ALLOW
    ]
    assert missed == []


READS_NOTHING_DENIED = [
    "git diff main -- src", "git log --oneline main", "git show HEAD:src/a.py", "grep -rn TODO src",
    "git add .env.example", "docker run -v .:/app x", "docker run --env-file .env.dev x",
    "kubectl apply -f k8s/", "aws s3 cp src/a.py s3://x", "curl -d @src/a.py x", "ls -la",
    "perl -ne print src/a.py", "echo src/a.py | xargs cat", "cat .env.example", "test -f .env",
]  # fmt: skip


@pytest.mark.parametrize("command", READS_NOTHING_DENIED)
def test_a_read_deny_leaves_the_rest_alone(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash"], deny=["Read(.env)"])
    assert found.behavior is Behavior.ALLOW, found.message


@pytest.mark.parametrize(
    "command",
    [
        "cat 0<.env",
        "cat 0< '.env'",
        "ls; time { cat <.env; }",
        "cat < .env 'open",
        "x 0>src/../.env",
    ],
)
def test_a_file_rule_counts_where_the_command_is_not_understood(
    engine: Engine, command: str
) -> None:
    found = engine.bash(command, allow=["Bash"], deny=["Read(.env)"])
    assert found.behavior is Behavior.DENY, found.message
    assert engine.bash(command, allow=["Bash"]).behavior is Behavior.ASK


@pytest.mark.parametrize(
    "command", ["git diff src/a.py", "ssh -i ~/.ssh/id host", "gh gist create a"]
)
def test_what_a_tool_is_handed_is_no_matter_of_scope_or_of_the_tool_read(
    engine: Engine, command: str
) -> None:
    assert engine.bash(command, allow=["Bash"], deny=["Read"]).behavior is Behavior.ALLOW
    assert engine.bash(command, mode=Mode.BYPASS).behavior is Behavior.ALLOW


@pytest.mark.parametrize(("header", "commands"), [*sections("allowed.txt")], ids=_name)
def test_everyday_work_is_not_asked_about(engine: Engine, header: str, commands: list[str]) -> None:
    full = SandboxState(SandboxLevel.FULL)
    asked = [text for text in commands if not _is_allowed(engine, header, text, full)]
    assert asked == []


def test_no_command_is_lost_while_reading() -> None:
    counts = {
        name: sum(len(commands) for _, commands in sections(name))
        for name in ("refused.txt", "outside.txt", "allowed.txt")
    }
    assert min(counts.values()) > 250
