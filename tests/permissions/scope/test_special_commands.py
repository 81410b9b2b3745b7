"""Build tools and repositories elsewhere, `find` that deletes, trees copied over others."""

from __future__ import annotations

import pytest

from permissions.confinement import SandboxLevel
from permissions.context import SandboxState
from permissions.decision import Behavior, Reason
from permissions.evaluate.cascade import decide
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.mode import Mode
from permissions.request import PermissionRequest
from tests.permissions.engine import Engine, make_engine


@pytest.mark.parametrize(
    "command",
    [
        "cd .. && make", "cd /tmp && npm test", "cd .. && time make", "(cd ..; make -j4)",
        "cd outlink && make", "pushd .. && cargo build", 'sh -c "cd .. && make"',
        "cd .. && timeout 5 pytest", "env -C .. make" ,
    ],
)  # fmt: skip
def test_no_rule_lets_a_build_tool_run_outside(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash", "Edit"])
    assert found.behavior is not Behavior.ALLOW
    assert found.reason is Reason.SCOPE_BOUNDS_VIOLATION


@pytest.mark.parametrize(
    "command",
    [
        "make", "cd sub && make", "cd sub && cd .. && make", "cd ../project && make",
        "(cd .. && ls); make", "cd .. && git status", "cd .. && make --version",
        "source .venv/bin/activate && make",
    ],
)  # fmt: skip
def test_inside_they_run_as_ever(engine: Engine, command: str) -> None:
    found = engine.bash(command, allow=["Bash"])
    assert found.behavior is Behavior.ALLOW, found.message


LINKS = [
    ("ln -s ../x sub/y", True),
    ("ln -s ../src/a.py sub/a.py", True),
    ("ln -sf src/a.py latest", True),
    ("ln -s .. sub/up", True),
    ("ln -st sub ../src/a.py", True),
    ("ln -s ../outside l", False),
    ("ln -s ../../outside/s.txt sub/l", False),
    ("cd sub && ln -s ../outside/s.txt ../l", False),
    ("ln -s /etc/passwd l", False),
    ("ln -sr ../outside/s.txt sub/l", False),
    ("ln -s ../outside/s.txt .", False),
    ("ln -s ../.. sub/up", False),
    ("ln ../outside/s.txt l", False),
]


@pytest.mark.parametrize(("command", "stays"), LINKS, ids=str)
def test_a_link_is_read_from_its_own_directory(engine: Engine, command: str, stays: bool) -> None:
    found = engine.bash(command, mode=Mode.BYPASS)
    assert (found.behavior is Behavior.ALLOW) is stays, found.message


@pytest.mark.parametrize(
    ("command", "held", "not_held"),
    [
        ("git status", Behavior.ALLOW, Behavior.ALLOW),
        ("cd vendor/x && git status", Behavior.ALLOW, Behavior.ASK),
        ("git -C vendor/x status", Behavior.ALLOW, Behavior.ASK),
        ("cd sub && git log --oneline", Behavior.ALLOW, Behavior.ASK),
    ],
)
def test_another_repository_is_read_where_nothing_can_be_written(
    own_engine: Engine, command: str, held: Behavior, not_held: Behavior
) -> None:
    """Its settings may name programs, which could change nothing there."""
    (own_engine.root / "vendor/x/.git").mkdir(parents=True)
    request = PermissionRequest("Bash", {"command": command})
    for level, expected in ((SandboxLevel.FULL, held), (SandboxLevel.NONE, not_held)):
        context = own_engine.context(sandbox=SandboxState(level))
        assert decide_with_classifier(request, context).behavior is expected


@pytest.fixture
def governed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project with settings of its own."""
    engine = make_engine(tmp_path_factory.mktemp("governed"))
    directory = engine.root / ".agent"
    directory.mkdir(exist_ok=True)
    (directory / "settings.json").write_text("{}\n")
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


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project with a template that holds protected names, and links in the way of a copy."""
    engine = make_engine(tmp_path_factory.mktemp("trees"))
    root, outside = engine.root, engine.root.parent / "outside"
    (root / "tmpl" / ".git" / "hooks").mkdir(parents=True)
    for name in (".git/hooks/pre-commit", ".envrc", "a"):
        (root / "tmpl" / name).write_text("text\n")
    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "out").write_text("text\n")
    (root / "old" / "deep").mkdir(parents=True)
    (root / "old" / "deep" / "out").symlink_to(outside / "secret.txt")
    (root / "old" / "a.py").symlink_to(outside / "secret.txt")
    return engine


@pytest.mark.parametrize(
    "command",
    [
        "cp -r tmpl/. .",
        "cp -rT tmpl .",
        "cp -a tmpl/. ./",
        "rsync -a tmpl/ .",
        "cp tmpl/.envrc .",
        "cp tmpl/.envrc sub",
        "cp tmpl/.envrc sub/",
        "cp -t sub tmpl/.envrc",
        "cp --parents tmpl/.git/hooks/pre-commit sub",
        "mv tmpl/.envrc sub",
        "cp tmpl/.e* sub",
    ],
)
def test_protected_names_are_found_where_a_copy_puts_them(trees: Engine, command: str) -> None:
    for mode in (Mode.DEFAULT, Mode.ACCEPT_EDITS):
        found = trees.bash(command, allow=["Bash(cp *)", "Bash(mv *)", "Edit"], mode=mode)
        assert found.behavior is Behavior.ASK, found.message


@pytest.mark.parametrize(
    "command",
    [
        "cp src/a.py old",
        "cp -t old src/a.py",
        "mv src/a.py old",
        "cp -r new/. old",
        "cp -rT new old",
        "cp -r new/deep old",
        "rsync -a new/ old",
        "sed -i'/etc/*' s/a/b/ src/a.py",
        "sed -i'../../*' s/a/b/ src/a.py",
        "sed --in-place='../../*' s/a/b/ src/a.py",
    ],
)
def test_a_link_in_the_way_leads_out_of_scope(trees: Engine, command: str) -> None:
    found = trees.bash(command, allow=["Bash", "Edit"], mode=Mode.BYPASS)
    assert (found.behavior, found.reason) == (Behavior.ASK, Reason.SCOPE_BOUNDS_VIOLATION)
    assert found.write_dirs


@pytest.mark.parametrize(
    "command",
    [
        "cp tmpl/.envrc copy",
        "cp -r tmpl copy",
        "cp -r new old2",
        "cp -r new sub",
        "cp -r src/. sub",
        "cp src/a.py sub",
        "mv src/a.py sub/",
        "cp -r new/deep/. sub",
        "rsync -a src/ sub/",
        "sed -i.bak s/a/b/ src/a.py",
        "sed -i'old-*' s/a/b/ src/a.py",
    ],
)
def test_ordinary_copies_are_not_asked_about(trees: Engine, command: str) -> None:
    found = trees.bash(command, allow=["Bash", "Edit"])
    assert found.behavior is Behavior.ALLOW, found.message


def test_more_files_than_can_be_looked_at_are_asked_about(trees: Engine) -> None:
    directory = trees.root / "many"
    directory.mkdir()
    for number in range(1_100):
        (directory / str(number)).touch()
    assert trees.bash("cp -r many/. sub", allow=["Bash"]).behavior is Behavior.ASK
    assert trees.bash("cp -r many copy", allow=["Bash"]).behavior is Behavior.ALLOW
