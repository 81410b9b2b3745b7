"""What commands print into a shell is read ahead for deny rules alone."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine

ANOTHER_MEANING = [
    "echo() { builtin echo rm x; }; echo ls | sh",
    "echo() { builtin echo rm x; }; eval 'echo ls | sh'",
    "eval 'echo() { builtin echo rm x; }'; echo ls | sh",
    "echo() { printf 'rm x'; }; bash <(echo ls)",
    "echo() { printf 'rm x'; }; source <(echo ls)",
    "echo() { printf 'rm x'; }; export -f echo; bash -c 'echo ls | sh'",
    "bash -c 'echo() { printf \"rm x\"; }; echo ls | sh'",
    "shopt -s expand_aliases; alias echo='printf rm\\ x;:'\necho ls | sh",
    "hash -p /usr/bin/rev cat; cat <<'E' | sh\nx mr\nE",
    "BASH_CMDS[cat]=/usr/bin/rev; cat <<'E' | sh\nx mr\nE",
    "PATH=.; cat <<'E' | sh\nx mr\nE",
    "export PA''TH=.; cat <<'E' | sh\nx mr\nE",
    "for PATH in .; do cat <<'E' | sh\nx mr\nE\ndone",
    "declare -n p=PA; p=.; cat <<'E' | sh\nx mr\nE",
    "read PA''TH < a; cat <<'E' | sh\nx mr\nE",
    "printf -v PA''TH .; cat <<'E' | sh\nx mr\nE",
    "printf -vPA''TH .; cat <<'E' | sh\nx mr\nE",
    ". ./names.sh; echo ls | sh",
    "enable -f ./e.so echo; echo ls | sh",
    "$X; echo ls | sh",
]
NOT_KNOWN = [
    "sh -c '$x'",
    "env sh -c 'while read x; do $x; done < a'",
    "sh -c 'sh -c \"\\$x\"'",
    "bash $1 <(echo rm x)",
    "bash -x $f",
    "ssh $X",
]
ANOTHER_LANGUAGE = [
    "fish -c 'and rm x'",
    "echo 'and rm x' | fish",
    "zsh -c 'repeat 1 rm x'",
    "cat <<'E' | zsh\nrepeat 1 rm x\nE",
    "csh -c 'foreach i (1)\nrm x\nend'",
    "env -S 'rm\\_x'",
    "env '-Srm\\tx'",
    "env --spl='rm\\_x'",
]


@pytest.mark.parametrize("command", [*ANOTHER_MEANING, *NOT_KNOWN, *ANOTHER_LANGUAGE])
def test_what_may_be_another_text_is_asked_about(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash(*)", "Edit"], deny=["Bash(rm *)"])
    assert found.behavior is Behavior.ASK


@pytest.mark.parametrize("command", ["unzip -l --l x.zip", "unzip -l-l x.zip", "unzip -t --t x"])
def test_an_option_that_is_taken_back_lists_nothing(engine: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    assert decide_with_classifier(request, engine.context()).behavior is Behavior.ASK
