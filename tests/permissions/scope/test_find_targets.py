"""What find deletes or edits may be the agent's own settings, in every mode."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Reason
from permissions.evaluate.cascade import decide
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine, make_engine


@pytest.fixture
def governed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project with settings of its own."""
    engine = make_engine(tmp_path_factory.mktemp("governed"))
    folder = engine.root / ".agent"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text("{}\n")
    return engine


CHANGES = [
    "find . -delete",
    "find . -type f -delete",
    "find . -exec rm -rf {} +",
    "find . -type f -exec sed -i s/a/b/ {} +",
    "find . -name settings.json -exec sed -i s/a/b/ {} +",
    "find . -iname '*.JSON' -delete",
    "find . -name '.a*' -exec rm -rf {} +",
    "find . -path './.agent/*' -exec rm {} ;",
    "find . -regex '.*/settings.*' -delete",
    "find . -maxdepth 1 -exec rm -rf {} +",
    "find src . -type f -delete",
    "find -- . -delete",
    'find "$PWD" -type f -delete',
    "find . -name '*.py' -o -name '*.json' -exec sed -i s/a/b/ {} +",
    "sh -c 'find . -type f -delete'",
]


@pytest.mark.parametrize("command", CHANGES)
def test_own_settings_among_what_is_found_are_asked_about(governed: Engine, command: str) -> None:
    found = governed.bash(command.replace(" ;", r" \;"), allow=["Bash"], mode=Mode.BYPASS)
    assert found.behavior is Behavior.ASK
    assert found.reason is Reason.PROTECTED_PATH


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "find . -name '*.pyc' -delete",
        "find . -name __pycache__ -type d -exec rm -rf {} +",
        "find . -type d -empty -delete",
        "find . -type f -not -path './.agent/*' -delete",
        "find . -type f ! -path '*/.*' -exec sed -i s/a/b/ {} +",
        "find . -path ./.agent -prune -o -type f -exec sed -i s/a/b/ {} +",
        "find . -maxdepth 1 -type f -delete",
        r"find . -regex '.*\.\(py\|js\)' -delete",
        "find src -type f -delete",
        "find . -type f -exec grep x {} +",
    ],
)
def test_what_leaves_them_alone_is_not(governed: Engine, command: str) -> None:
    assert governed.bash(command, allow=["Bash"]).behavior is Behavior.ALLOW
    assert governed.bash(command, mode=Mode.BYPASS).behavior is Behavior.ALLOW


def test_settings_that_come_into_being_later_are_seen(governed: Engine) -> None:
    request = PermissionRequest("Bash", {"command": "ls && find . -type f -delete"})
    context = governed.context(allow=["Bash"], mode=Mode.BYPASS)
    settings = governed.root / ".agent" / "settings.json"
    settings.unlink()
    assert [decide(request, context).behavior for _ in range(3)] == [Behavior.ALLOW] * 3
    settings.write_text("{}\n")
    assert decide(request, context).behavior is Behavior.ASK
