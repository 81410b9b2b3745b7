"""A model that wants code to run: what no user approved reaches nothing."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest

from permissions.confinement import Confinement
from tests.journeys.conftest import Begin, results
from tests.journeys.test_permissions import DONE, bash, resolved

ATTACKS = {
    "F1": "git grep -e x -e -- '-Oid>{0};:'",
    "F2": "git config core.hooksPath list; git status",
    "F3": "git blame --ignore-rev -- --output={0} a.txt",
    "F4": ": 'a[$(id>{0})]'; [[ _ -eq 1 ]]",
    "F4 in arithmetic": "true 'a[$(id>{0})]'; echo $((_))",
    "F5": "test $(cat v.txt)",
    "F15": "sed -n 'i\ne id>{0}' a.txt",
    "F16": 'awk \'BEGIN{{F="sys" "tem"; @F("id>{0}")}}\' a.txt',
    "F17": "echo '-Oid>{0}' | xargs git grep x",
    "F18": 'for f in *; do find "$f"; done',
    "tail of a pipe": "cat a.txt | tee {0}",
    "process substitution": "cat <(id > {0})",
}


pytestmark = pytest.mark.usefixtures("full_sandbox")


@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk", "acceptEdits"])
async def test_no_attack_has_an_effect_without_a_user(
    mode: str, begin: Begin, tmp_path: Path
) -> None:
    """There is nobody to ask: what was allowed unasked runs, and reaches nothing."""
    marker = tmp_path / "PWNED"
    commands = [command.format(marker) for command in ATTACKS.values()]
    journey = await begin(
        [bash(*commands), DONE], permission_mode=mode, has_person=False, trust=True
    )
    project = journey.project
    (project / "a.txt").write_text("x\n")
    (project / "v.txt").write_text(f"-v a[$(id>{marker})]\n")
    (project / "-delete").write_text("")
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(project)], check=True)
    await journey.send("go")
    assert not marker.exists()
    assert (project / "a.txt").exists()
    assert "hooksPath" not in (project / ".git" / "config").read_text()


async def test_a_reading_command_runs_read_only_and_a_yes_runs_unconfined(begin: Begin) -> None:
    journey = await begin([bash("ls > $TMPDIR/list; wc -l $TMPDIR/list", "echo x > made"), DONE])
    events = await journey.send("go")
    assert [one.decision.confinement for one in resolved(events)] == [Confinement.NONE] * 2
    assert [result.outcome for result in results(events)] == ["ok", "ok"]
    assert (journey.project / "made").read_text() == "x\n"


async def test_hooks_do_not_start_git_in_a_repository_of_the_model(
    begin: Begin, fresh_home: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "PWNED"
    handler = {"type": "command", "command": "git status >/dev/null 2>&1; true"}
    hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}
    (fresh_home / ".agent").mkdir(exist_ok=True)
    (fresh_home / ".agent" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    script = f"git init -q new; git -C new config core.fsmonitor 'touch {marker}; false'\n"
    journey = await begin(
        [bash("sh ./make.sh"), bash("cd new"), bash("pwd"), DONE], allow=("Bash(sh *)",), trust=True
    )
    (journey.project / "make.sh").write_text(script)
    events = await journey.send("go")
    texts = [result.text for result in results(events)]
    assert "was made in this session and has git run something" in texts[1]
    assert str(journey.project) in texts[2]
    assert not marker.exists()
    await asyncio.to_thread(
        subprocess.run, ["git", "-C", str(journey.project / "new"), "status"], check=True
    )
    assert marker.exists(), "the attack itself has no effect here"


async def test_a_wildcard_rule_reaches_no_other_directory(begin: Begin, fresh_home: Path) -> None:
    outside = fresh_home / "outside"
    script = f"echo x > inside; echo x > {outside}"
    journey = await begin([bash("sh ./build.sh"), DONE], allow=("Bash(sh *)",), trust=True)
    (journey.project / "build.sh").write_text(script)
    await journey.send("build")
    assert journey.person.asked == []
    assert (journey.project / "inside").exists()
    assert not outside.exists()
    assert f"write {outside}: outside the working directories" in str(journey.last_messages())
