"""Scripts that set a value which could run something, and evaluate some name: bash is the judge.

Whatever the engine allows without a rule is run for real; none of it may leave the file PWNED.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine

PAYLOAD = "'a[$(>PWNED)]'"
NAMES = ["x", "_", "REPLY", "RANDOM", "BASH_REMATCH", "MAPFILE", "true", "OPTIND", "SECONDS", "PWD"]
SETTING = [
    "{name}={value}", ": {value}", "[[ {value} =~ .* ]]", "read {name} <<< {value}",
    "for {name} in {value}; do :; done", "{name}+={value}", "read <<< {value}", "echo {value}",
    "set -- {value}", "{name}=({value})", "case {value} in *) ;; esac", "mapfile <<< {value}",
    "while read {name}; do :; done <<< {value}", "test -n {value}", "basename {value}",
]  # fmt: skip
USING = [
    "[[ {name} -eq 1 ]]", '[[ "${name}" -gt 0 ]]', ": $(({name}))", "x=$(({name}+1))",
    "(( {name} ))", "[[ -v ${name} ]]", "test -v ${name}", "[ ${name} = 1 ]", ": ${{PWD:{name}}}",
    ": ${{a[{name}]}}", "a[{name}]=1", "a=([{name}]=1)", ": <<< $(({name}))", ": $[{name}]",
    "cat <<E\n$(({name}))\nE", "cat <<E\n${{PWD:{name}}}\nE", "for ((;{name};)); do break; done",
    "case $(({name})) in 1) ;; esac", "sleep $(({name}))", "[[ ( {name} -eq 1 ) ]]", "[ $# -gt 0 ]",
    "echo ${{#{name}}}", '[ "${name}" = 1 ]', "[[ -n ${name} ]]",
]  # fmt: skip


def _script(chosen: random.Random) -> str:
    def piece(forms: list[str]) -> str:
        value = chosen.choice([PAYLOAD, PAYLOAD, "1", '"$x"'])
        return chosen.choice(forms).format(name=chosen.choice(NAMES), value=value)

    return chosen.choice(["; ", "\n"]).join([piece(SETTING), piece(SETTING), piece(USING)])


def test_nothing_that_needs_no_permission_runs_a_value(engine: Engine, tmp_path: Path) -> None:
    chosen = random.Random(11)
    context = engine.context()
    allowed = [
        script
        for script in (_script(chosen) for _ in range(2_500))
        if decide_with_classifier(PermissionRequest("Bash", {"command": script}), context).behavior
        is Behavior.ALLOW
    ]
    assert len(allowed) > 100
    for script in allowed[:250]:
        subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        assert not (tmp_path / "PWNED").exists(), script


def test_the_payload_runs_where_it_is_evaluated(tmp_path: Path) -> None:
    script = f": {PAYLOAD}; : $((_))"
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "PWNED").exists()
