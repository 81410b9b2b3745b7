"""Arithmetic, subscripts, names: a value such as `a[$(rm y)]` runs where it is evaluated."""

from __future__ import annotations

import pytest

from permissions.confinement import Confinement
from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine

PROGRAMS = (
    "[ test [[ printf read echo cat ls unset mapfile : exit set cd wc date let declare getopts"
)
RULES = [f"Bash({name} *)" for name in f"{PROGRAMS} typeset grep export local hash".split()]
RULES += ["Bash(true)", "Bash(PS4=*)", "Bash(a=*)", "Bash(a+=*)", "Bash(x=*)"]

RUNNING = [
    "[ -v 'a[$(rm y)]' ]",
    "test -v 'a[$(rm y)]'",
    "[ ! -v 'a[`rm y`]' ]",
    "[ -n x -a -v 'a[$(rm y)]' ]",
    "[[ -v 'a[$(rm y)]' ]]",
    "[[ 'a[$(rm y)]' -eq 1 ]]",
    "[ $(echo '-v a[$(rm y)]') ]",
    "printf -v 'a[$(rm y)]' x",
    "printf -v'a[$(rm y)]' x",
    "read 'a[$(rm y)]' <<< x",
    "read -r x 'a[$(rm y)]' <<< x",
    "declare 'a[$(rm y)]=1'",
    "typeset 'a[$(rm y)]=1'",
    "declare -i z='a[$(rm y)]'",
    "declare -n r='a[$(rm y)]'; echo $r",
    "unset 'a[$(rm y)]'",
    "let 'a[$(rm y)]=1'",
    "(( 'a[$(rm y)]' ))",
    "echo $(( 'a[$(rm y)]' ))",
    "echo $(( $(cat f) + 1 ))",
    "echo $(( $(echo 'a[$(rm y)]') ))",
    "x='a[$(rm y)]'; echo $((x))",
    "x='a[$(rm y)]'; [[ $x -eq 1 ]]",
    "x='a[$(rm y)]'; [[ x -eq 1 ]]",
    "x='a[$(rm y)]'; [ -v $x ]",
    "x='a[$(rm y)]'; [ -v \"$x\" ]",
    "x='-v a[$(rm y)]'; [ $x ]",
    "x='a[$(rm y)]'; z=x; echo $((z))",
    "x='a[$(rm y)]'; for z in x; do echo $((z)); done",
    "for z in 'a[$(rm y)]'; do echo $((z)); done",
    "x='a[$(rm y)]'; echo ${a[x]}",
    "x='a[$(rm y)]'; a[x]=1",
    "x='a[$(rm y)]'; a=([x]=1)",
    "x='a[$(rm y)]'; a+=([x]=1)",
    "y=abc; x='a[$(rm y)]'; echo ${y:x}",
    "y=abc; x='a[$(rm y)]'; echo ${y:0:x}",
    "x='a[$(rm y)]'; let x+=1",
    "x='a[$(rm y)]'; declare -n r=x; echo $((r))",
    "x=$(cat f); echo $((x))",
    "n=$(wc -l < src/a.py); echo $((n + 1))",
    "read z < f; echo $((z))",
    "set -- 'a[$(rm y)]'; echo $(($1))",
    "wc() { echo 'a[$(rm y)]'; }; n=$(wc -l < f); echo $((n))",
    "PS4='$(rm y)'; set -x; true",
    "PS4=$X; set -x; true",
    "mapfile -C 'rm y' -c 1 <<< x",
    "hash -p /bin/rm ls; ls y",
]


@pytest.mark.parametrize("command", RUNNING)
def test_what_a_value_could_run_is_not_covered_by_a_pattern(engine: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    found = decide_with_classifier(request, engine.context(allow=RULES))
    assert found.behavior is Behavior.ASK, found.message
    denied = engine.bash(command, allow=["Bash"], deny=["Bash(rm *)"], mode=Mode.BYPASS)
    assert denied.behavior is not Behavior.ALLOW


COUNTING = [
    "i=0; for f in a b; do i=$((i+1)); echo \"$i $f\"; done",
    "for ((i=0;i<3;i++)); do echo $i; done",
    "x=5; ((x > 3)) && echo yes",
    "x=abc; echo ${x:1} \"${x:0:3}\"",
    "count=1; echo $((count + 1))",
    "a=(1 2 3); echo ${a[0]} ${a[@]} ${#a[@]}",
    "i=2; a=(x y z); echo \"${a[$i]}\"",
    "n=0; while read -r l; do n=$((n+1)); done < src/a.py; echo $n",
    "x='a[$(rm y)]'; i=0; echo $((i+1))",
    "echo 'a[$(rm y)]'",
    "printf '%s\\n' 'a[$(rm y)]'",
    "grep 'a[$(rm y)]' src/a.py",
    "[ -n \"$(git status --porcelain)\" ] && echo dirty",
    "[ \"$x\" = y ] && ls",
    "[[ $x == y* ]] && ls",
    "msg=$(cat src/a.py); echo \"$msg\"",
    "PS4='+ '; set -x; true",
]  # fmt: skip


@pytest.mark.parametrize("command", COUNTING)
def test_counting_is_not_asked_about(engine: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    found = decide_with_classifier(request, engine.context(allow=RULES))
    assert found.behavior is Behavior.ALLOW, found.message


@pytest.mark.parametrize(
    "command", ["x=1; ls", "x=$(ls .); ls", "x+=1; ls", "[ \"$x\" = y ]; ls", "[[ -n $x ]]; ls"]
)  # fmt: skip
def test_a_plain_name_of_its_own_needs_no_permission(engine: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    found = decide_with_classifier(request, engine.context(allow=["Bash(ls *)"]))
    assert found.behavior is Behavior.ALLOW, found.message
    assert found.confinement is Confinement.READ_ONLY


@pytest.mark.parametrize("command", ["x=$(ls)", '[ -n "$x" ]', "set -e; ls", "time (ls)"])
def test_what_has_no_effect_is_allowed_in_plan_mode_too(engine: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    found = decide_with_classifier(request, engine.context(mode=Mode.PLAN))
    assert found.behavior is Behavior.ALLOW, found.message


@pytest.mark.parametrize(
    "command",
    ["X=1; ls", "PATH=.; ls", "http_proxy=x; ls", "path=x; ls", "x=1 ls", "x[1]=2; ls",
     "x=$(rm y); ls", "x=1 y=2; ls", "[ $x ]; ls", "[ -v \"$x\" ]; ls", "[[ $x -eq 1 ]]; ls"],
)  # fmt: skip
def test_other_assignments_and_conditions_do(engine: Engine, command: str) -> None:
    assert engine.bash(command, allow=["Bash(ls *)"]).behavior is Behavior.ASK


@pytest.mark.parametrize("start", ["<<'EOF'", "<<EOF", "<<-EOF"])
def test_a_message_from_a_here_document_is_reading_beside_an_allowed_command(
    engine: Engine, start: str
) -> None:
    request = PermissionRequest(
        "Bash", {"command": f'git commit -m "$(cat {start}\nSubject\n\nBody (text)\nEOF\n)"'}
    )
    found = decide_with_classifier(request, engine.context(allow=["Bash(git commit:*)"]))
    assert found.behavior is Behavior.ALLOW, found.message


def test_a_here_document_that_runs_something_is_asked_about(engine: Engine) -> None:
    request = PermissionRequest("Bash", {"command": 'git commit -m "$(cat <<EOF\n$(rm y)\nEOF\n)"'})
    found = decide_with_classifier(request, engine.context(allow=["Bash(git commit:*)"]))
    assert found.behavior is Behavior.ASK, found.message


def test_an_allow_of_all_reads_is_about_reads_outside_too(engine: Engine) -> None:
    for rule in ("Read", "Read(*)"):
        assert engine.call("Read", {"file_path": "/etc/x"}, allow=[rule]).behavior is Behavior.ALLOW
    ask = engine.call("Read", {"file_path": "/etc/x"}, allow=["Read(**)"])
    assert ask.behavior is Behavior.ASK
    denied = engine.call("Edit", {"file_path": "src/a.py"}, deny=["Read(*)"])
    assert denied.behavior is Behavior.DENY
