"""`$TMPDIR` is known where it surely holds the session's scratch directory, and nowhere else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from permissions.context import SandboxState
from permissions.decision import Decision, Reason
from permissions.evaluate.cascade import decide, evaluate_parts
from permissions.evaluate.effect_summary import effects_of
from permissions.grants.suggest import suggest
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.shell.analyze import analyze
from permissions.shell.parse.parse import parse
from permissions.shell.syntax import Unparsable
from tests.permissions.engine import FILES, FULL, NOTHING, Engine

KNOWN = [
    "echo hi > $TMPDIR/x",
    'echo hi > "$TMPDIR/x"',
    "echo hi >> ${TMPDIR}/x",
    'echo hi > "${TMPDIR:-/tmp}/x"',
    "cat <<'EOF' > $TMPDIR/x\nhi\nEOF",
    "mkdir -p $TMPDIR/x",
    "(echo hi > $TMPDIR/x)",
    "for i in a b; do echo $i > $TMPDIR/x; done",
    "printf '%s' hi > \\\n$TMPDIR/x",
]
ATTACKS = [
    "TMPDIR=OUT; echo hi > $TMPDIR/x",
    "TMP\\\nDIR=OUT; echo hi > $TMPDIR/x",
    "TMPDIR=OUT && echo hi > $TMPDIR/x",
    "export TMPDIR=OUT; echo hi > $TMPDIR/x",
    "export TMP'DIR'=OUT; echo hi > $TMPDIR/x",
    "export TMP\\DIR=OUT; echo hi > $TMPDIR/x",
    "n=TMP; export ${n}DIR=OUT; echo hi > $TMPDIR/x",
    'declare TMP"DIR"=OUT; echo hi > $TMPDIR/x',
    'builtin declare TMP"DIR"=OUT; echo hi > $TMPDIR/x',
    "n=TMP; command declare ${n}DIR=OUT; echo hi > $TMPDIR/x",
    "declare -n r=TMPDIR; r=OUT; echo hi > $TMPDIR/x",
    "n=TMP; declare -n r=${n}DIR; r=OUT; echo hi > $TMPDIR/x",
    "unset TMPDIR; echo hi > $TMPDIR/x",
    "unset TMP{DIR,}; echo hi > $TMPDIR/x",
    "unset ${!TMPD*}; echo hi > $TMPDIR/x",
    "read TMPDIR <<< OUT; echo hi > $TMPDIR/x",
    "n=TMP; read ${n}DIR <<< OUT; echo hi > $TMPDIR/x",
    "n=TMP; printf -v ${n}DIR %s OUT; echo hi > $TMPDIR/x",
    "unset TMPDIR; : ${TMPDIR:=OUT}; echo hi > $TMPDIR/x",
    "unset TMPDIR; echo hi > ${TMPDIR:=OUT}/x",
    "f() { local TMPDIR=OUT; echo hi > $TMPDIR/x; }; f",
    "f() { TMPDIR=OUT; }; f; echo hi > $TMPDIR/x",
    "e='TMP''DIR=OUT'; eval $e; echo hi > $TMPDIR/x",
    "echo VE1QRElSPU9VVA== | base64 -d > s; . ./s; echo hi > $TMPDIR/x",
    "source <(echo TMP''DIR=OUT); echo hi > $TMPDIR/x",
    "for TMPDIR in OUT; do echo hi > $TMPDIR/x; done",
    "(( TMPDIR = 0 )); mkdir -p $TMPDIR; echo hi > $TMPDIR/x",
    "n=TMP; (( ${n}DIR = 0 )); echo hi > $TMPDIR/x",
    "n=TMP; let ${n}DIR=0; echo hi > $TMPDIR/x",
    "mapfile -t TMPDIR <<< OUT; echo hi > $TMPDIR/x",
    "exec {TMPDIR}>/dev/null; echo hi > $TMPDIR/x",
    "trap 'eval TMP''DIR=OUT' DEBUG; echo hi > $TMPDIR/x",
    "s=$(printf 'TMP%s=OUT' DIR); trap \"$s\" DEBUG; : ; echo hi > $TMPDIR/x",
    "TMPDIR=OUT bash -c 'echo hi > $TMPDIR/x'",
    "env -u TMPDIR bash -c 'echo hi > $TMPDIR/x'",
    "env -i bash -c 'echo hi > $TMPDIR/x'",
    "bash -c 'TMPDIR=OUT; echo hi > $TMPDIR/x'",
    "echo hi > ${TMPDIR%/*}/x",
    "echo hi > ${TMPDIR/scratch/other}/x",
    "echo hi > $TMPDIRS/x",
    "IFS=/; echo hi > $TMPDIR/x",
]


def decided(engine: Engine, command: str, scratch: Path, sandbox: SandboxState = FULL) -> Decision:
    allow = ["Bash(echo *)", "Bash(printf *)", "Bash(cat *)", "Bash(bash *)"]
    context = engine.context(allow=allow, mode=Mode.ACCEPT_EDITS, sandbox=sandbox)
    context = replace(context, scratch_dir=scratch)
    return decide(PermissionRequest("Bash", {"command": command}), context)


@pytest.fixture
def scratch(own_engine: Engine) -> Path:
    directory = own_engine.home / ".agent" / "sessions" / "p" / "scratch"
    directory.mkdir(parents=True)
    return directory


@pytest.mark.parametrize("command", KNOWN)
def test_a_write_to_the_scratch_directory_is_understood(
    own_engine: Engine, scratch: Path, command: str
) -> None:
    assert decided(own_engine, command, scratch).behavior == "allow"
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(scratch)}
    # What was understood is what bash does.
    subprocess.run(["bash", "-c", command], cwd=own_engine.root, env=env, check=True)
    assert os.listdir(scratch) == ["x"]


@pytest.mark.parametrize("command", ATTACKS)
def test_what_could_change_the_variable_hides_its_value(
    own_engine: Engine, scratch: Path, command: str
) -> None:
    command = command.replace("OUT", "/srv")
    for sandbox in (FULL, FILES, NOTHING):
        assert decided(own_engine, command, scratch, sandbox).behavior != "allow"
    known = parse(command, str(scratch))
    assert isinstance(known, Unparsable) or known == parse(command)


@pytest.mark.parametrize("name", ["with blank", "with*star", "with$(id)"])
def test_a_path_that_a_shell_would_split_is_not_put_in(own_engine: Engine, name: str) -> None:
    scratch = own_engine.home / name
    scratch.mkdir()
    assert decided(own_engine, "echo hi > $TMPDIR/x", scratch).behavior != "allow"


def test_a_path_above_the_scratch_directory_is_outside(own_engine: Engine, scratch: Path) -> None:
    decision = decided(own_engine, "echo hi > $TMPDIR/../../x", scratch)
    assert decision.reason is Reason.SCOPE_BOUNDS_VIOLATION


def test_without_a_scratch_directory_nothing_is_known(engine: Engine) -> None:
    decision = engine.bash("echo hi > $TMPDIR/x", allow=["Bash(echo *)"], mode=Mode.ACCEPT_EDITS)
    assert "cannot be resolved" in decision.message


def test_a_write_there_is_offered_for_the_session_and_is_no_loss(
    own_engine: Engine, scratch: Path
) -> None:
    context = replace(own_engine.context(), scratch_dir=scratch)
    request = PermissionRequest("Bash", {"command": "make > $TMPDIR/log.txt"})
    evaluation = evaluate_parts(request, context)
    (grant,) = suggest(evaluation, evaluation.decision)
    assert grant.rules == ("Bash(make)", f"Edit(/{scratch}/**)")
    assert not any("outside git" in effect for effect in effects_of(evaluation))


def test_callers_that_do_not_know_the_value_share_the_facts() -> None:
    command = "ls a && wc -l b"
    assert analyze(command, "/p", "/h", "/s") is analyze(command, "/p", "/h")
