"""How often everyday commands cause an ask or a denial, by mode and sandbox level.

`python -m benchmarks.friction` prints a table of questions and denials in 100 commands.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from permissions.confinement import SandboxLevel
from permissions.context import PermissionContext, SandboxState
from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rules.rule_set import RuleBehavior, RuleSet, RuleSource, RuleText

_ALLOWED: Final = "cargo cp curl docker gh git go make mkdir mv node npm npx pip pytest ruff uv"
RULES: Final = tuple(
    RuleText(f"Bash({name} *)", RuleBehavior.ALLOW, RuleSource.USER) for name in _ALLOWED.split()
)
"""Rules of a user who wants few questions."""
COMMANDS: Final = Path(__file__).parents[1] / "tests/permissions/commands/allowed.txt"
MODES: Final = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.DONT_ASK)
STATES: Final = {
    "full": SandboxState(SandboxLevel.FULL),
    "full, working inside": SandboxState(SandboxLevel.FULL, works_inside=True),
    "files": SandboxState(SandboxLevel.FILES),
    "none": SandboxState(SandboxLevel.NONE),
}


def everyday_commands() -> Iterator[str]:
    """Yield each command of the corpus of everyday commands once."""
    lines = COMMANDS.read_text("utf-8").splitlines()
    texts = (line for line in lines if line and not line.startswith(("#", "[")))
    for text in dict.fromkeys(texts):
        yield text.replace("<NL>", "\n").replace("<TAB>", "\t")


def main() -> None:
    """Print the table."""
    commands = list(everyday_commands())
    print(f"of 100 everyday commands ({len(commands)}): asked / denied\n")
    print("| mode | " + " | ".join(STATES) + " |")
    print("| --- |" + " --: |" * len(STATES))
    with tempfile.TemporaryDirectory() as scratch:
        for mode in MODES:
            cells = [_cell(commands, Path(scratch), mode, state) for state in STATES.values()]
            print(f"| {mode} | " + " | ".join(cells) + " |")
        cells_with_rules = [
            _cell(commands, Path(scratch), Mode.DEFAULT, state, RULES) for state in STATES.values()
        ]
        print(f"| default, {len(RULES)} rules | " + " | ".join(cells_with_rules) + " |")


def _cell(
    commands: list[str],
    directory: Path,
    mode: Mode,
    state: SandboxState,
    rules: tuple[RuleText, ...] = (),
) -> str:
    context = PermissionContext(
        mode=mode,
        rules=RuleSet.build(rules)[0],
        launch_dir=directory,
        project_root=directory,
        home=directory / "home",
        sandbox=state,
    )
    answers = Counter(
        decide_with_classifier(PermissionRequest("Bash", {"command": command}), context).behavior
        for command in commands
    )
    return " / ".join(
        f"{100 * answers[behavior] / len(commands):.0f}"
        for behavior in (Behavior.ASK, Behavior.DENY)
    )


if __name__ == "__main__":
    main()
