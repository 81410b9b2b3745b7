"""Command and skill files: what is found, what waits for trust, what is reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.commands.command_registry import CommandRegistry, split_command
from agent.commands.sources.directories import CommandLocations
from agent.commands.sources.discover import CommandFinder
from agent.commands.spec import CommandError, CommandSource, PromptCommand, Surface
from agent.commands.table import BUILTIN_COMMANDS
from agent.settings.project_items import items_of_directories
from agent.settings.trust import TrustState


class Place:
    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.places = CommandLocations(self.home, self.home / ".agent", self.project)
        self.trust = TrustState(self.project, is_trusted=False)
        self.finder = CommandFinder(self.places, lambda: self.trust)

    def write(self, name: str, text: str | bytes, *, home: bool = False) -> Path:
        path = (self.home if home else self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def accept(self) -> None:
        items = tuple(items_of_directories(self.project))
        digests = frozenset(item.digest for item in items)
        self.trust = TrustState(self.project, True, items, digests)

    def names(self) -> list[str]:
        return [command.meta.name for command in self.finder.find().commands]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_own_directories_come_before_the_projects_and_skills_before_commands(
    place: Place,
) -> None:
    place.write(".claude/commands/a.md", "a", home=True)
    place.write(".agent/commands/sub dir/b.md", "b", home=True)
    place.write(".agent/skills/s/SKILL.md", "s", home=True)
    place.write(".claude/commands/p.md", "p")
    place.write(".agent/skills/ps/SKILL.md", "ps")
    place.accept()
    assert place.names() == ["s", "ps", "sub-dir:b", "a", "p"]


def test_what_a_project_brings_waits_for_trust_in_exactly_that_content(place: Place) -> None:
    path = place.write(".agent/commands/p.md", "one")
    assert (place.names(), place.finder.find().waiting) == ([], ("p",))
    place.accept()
    (command,) = place.finder.find().commands
    assert command.load().body == "one"
    path.write_text("two, which nobody has seen")
    with pytest.raises(CommandError, match="changed since you trusted"):
        command.load()
    assert place.finder.find().waiting == ("p",)


def test_a_project_cannot_take_a_reserved_name(place: Place) -> None:
    place.write(".agent/commands/permissions.md", "x")
    place.accept()
    found = place.finder.find()
    assert found.commands == ()
    assert "reserved" in str(found.problems[0])


def test_broken_heads_are_reported_and_the_rest_counts(place: Place) -> None:
    text = "---\ndescription: Fix model: x\neffort: enormous\nargument-hint: [file]\n---\nDo $1"
    place.write(".agent/commands/fix.md", text, home=True)
    found = place.finder.find()
    (command,) = found.commands
    assert command.meta.description == "Fix model: x"
    assert command.load().body == "Do $1"
    assert [p.message.partition(":")[0] for p in found.problems] == [
        "the front matter is not valid YAML",
        "effort is 'enormous'; known",
    ]


def test_head_fields(place: Place) -> None:
    head = (
        "---\ndescription: D\nargument-hint: [a] [b]\nallowed-tools: Bash(git add:*), Read\n"
        "model: inherit\neffort: high\nuser-invocable: false\narguments: [who]\n---\nBody"
    )
    place.write(".claude/skills/s/SKILL.md", head, home=True)
    (command,) = place.finder.find().commands
    template = command.load()
    assert command.for_model
    assert not command.meta.is_listed
    assert template.allowed_tools == ("Bash(git add:*)", "Read")
    assert (template.model, template.effort, template.argument_names) == (None, "high", ("who",))


@pytest.mark.parametrize(
    ("name", "typed"),
    [("it's.md", "it's"), ("🙂.md", "🙂"), ('a"b.md', 'a"b'), ("a\tb.md", "a-b")],
)
def test_odd_names_can_be_typed(place: Place, name: str, typed: str) -> None:
    place.write(f".agent/commands/{name}", "x", home=True)
    assert place.names() == [typed]


def test_names_that_cannot_be_typed_are_reported(place: Place) -> None:
    directory = place.home / ".agent" / "commands"
    directory.mkdir(parents=True)
    (directory / "a\x1bb.md").write_text("x")
    with open(os.path.join(os.fsencode(directory), b"\xff.md"), "wb"):
        pass
    found = place.finder.find()
    assert found.commands == ()
    assert len(found.problems) == 2
    assert "\x1b" not in str(found.problems)


def test_bytes_that_are_no_utf_8_do_no_harm(place: Place) -> None:
    place.write(".agent/commands/x.md", b"\xff\xfe---", home=True)
    assert place.names() == ["x"]


def test_a_file_that_is_no_text_is_reported(place: Place) -> None:
    place.write(".agent/commands/x.md", "Fix it".encode("utf-16"), home=True)
    place.write(".agent/commands/y.md", b"y", home=True)
    assert place.names() == ["y"]
    assert [(p.file.name, p.message) for p in place.finder.find().problems] == [
        ("x.md", "is not UTF-8 text")
    ]


def test_a_pipe_is_reported(place: Place) -> None:
    directory = place.home / ".agent" / "skills" / "s"
    directory.mkdir(parents=True)
    os.mkfifo(directory / "SKILL.md")
    assert place.names() == []


def test_started_in_the_home_directory_everything_is_the_users_own(tmp_path: Path) -> None:
    place = Place(tmp_path)
    finder = CommandFinder(
        CommandLocations(place.home, place.home / ".agent", place.home), lambda: place.trust
    )
    place.write(".agent/commands/a.md", "a", home=True)
    found = finder.find()
    assert [c.meta.source for c in found.commands] == [CommandSource.USER_COMMAND]


def test_the_first_source_with_a_name_counts_and_names_beat_aliases(place: Place) -> None:
    place.write(".agent/commands/cost.md", "mine", home=True)
    place.write(".agent/commands/quit.md", "mine", home=True)
    found = place.finder.find()
    registry = CommandRegistry([lambda: found.commands, lambda: BUILTIN_COMMANDS], Surface.SCREEN)
    assert isinstance(registry.find("cost"), PromptCommand)
    assert isinstance(registry.find("quit"), PromptCommand)
    exit_command = registry.find("exit")
    assert exit_command is not None
    assert exit_command.type == "local"
    assert registry.nearest("statsu") == "status"


def test_a_command_in_a_directory_is_suggested_by_its_last_part(place: Place) -> None:
    place.write(".agent/commands/web/deploy.md", b"x", home=True)
    found = place.finder.find()
    registry = CommandRegistry([lambda: found.commands, lambda: BUILTIN_COMMANDS], Surface.SCREEN)
    assert registry.nearest("deploy") == "web:deploy"


def test_the_model_is_informed_of_skills_before_commands(place: Place) -> None:
    head = b"---\ndescription: d\n---\n"
    place.write(".agent/commands/a.md", head, home=True)
    place.write(".agent/skills/z/SKILL.md", head, home=True)
    found = place.finder.find()
    registry = CommandRegistry([lambda: found.commands], Surface.SCREEN)
    assert [c.meta.name for c in registry.for_model()] == ["z", "a"]


def test_commands_for_the_screen_are_not_offered_without_one() -> None:
    registry = CommandRegistry([lambda: BUILTIN_COMMANDS], Surface.HEADLESS)
    assert registry.find("theme") is None
    assert registry.find("cost") is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a", ("a", "")),
        ("/a  b c ", ("a", "b c")),
        ("/a\nb", ("a", "b")),
        ("/usr/bin is missing", None),
        ("/ a", None),
        ("/", None),
        ("a /b", None),
    ],
)
def test_what_is_a_command(text: str, expected: tuple[str, str] | None) -> None:
    assert split_command(text) == expected


def _problems(place: Place) -> list[tuple[str, str]]:
    return [(problem.file.name, problem.message) for problem in place.finder.find().problems]


def test_links_in_the_own_directories_are_followed_but_never_in_a_ring(place: Place) -> None:
    place.write("elsewhere/deep/b.md", b"b", home=True)
    place.write(".agent/commands/a.md", b"a", home=True)
    commands = place.home / ".agent" / "commands"
    (commands / "more").symlink_to(place.home / "elsewhere")
    for name in ("ring", "round"):
        (commands / name).symlink_to(commands)
        (place.home / "elsewhere" / name).symlink_to(commands)
    assert place.names() == ["a", "more:deep:b"]
    assert _problems(place) == []


@pytest.mark.parametrize("name", ["commands/key.md", "skills/key/SKILL.md"])
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_project_cannot_bring_a_file_from_elsewhere(place: Place, name: str, linked: str) -> None:
    secret = place.write(f".ssh/{Path(name).name}", b"secret", home=True)
    link = place.project / ".claude" / name
    if linked == "file":
        link.parent.mkdir(parents=True)
        link.symlink_to(secret)
    else:
        link.parent.parent.mkdir(parents=True)
        link.parent.symlink_to(secret.parent)
    place.accept()
    assert place.names() == []
    assert all("outside the project" in message for _, message in _problems(place))


def test_a_projects_skill_may_be_a_link_to_a_folder_inside_it(place: Place) -> None:
    place.write(".agents/skills/deploy/SKILL.md", "d")
    place.write(".agents/skills/deploy/notes.md", "n")
    link = place.project / ".claude" / "skills" / "deploy"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../.agents/skills/deploy")
    assert place.names() == []
    place.accept()
    assert place.names() == ["deploy"]
    assert _problems(place) == []
    place.write(".agents/skills/deploy/SKILL.md", "changed")
    assert place.names() == []


def test_commands_of_every_folder_from_the_start_up_to_the_root_apply(tmp_path: Path) -> None:
    place = Place(tmp_path)
    start = place.project / "packages" / "app"
    place.write("packages/app/.claude/commands/one.md", "a")
    place.write("packages/.claude/skills/two/SKILL.md", "b")
    place.write("packages/other/.claude/commands/not.md", "c")
    place.write(".claude/commands/one.md", "d")
    places = CommandLocations(place.home, place.home / ".agent", place.project, launch_dir=start)
    items = tuple(items_of_directories(place.project, launch_dir=start))
    digests = frozenset(item.digest for item in items)
    place.trust = TrustState(place.project, True, items, digests)
    found = CommandFinder(places, lambda: place.trust).find()
    assert [command.meta.name for command in found.commands] == ["two", "one", "one"]
    assert found.waiting == ()
    assert place.finder.find().waiting == ()


def test_a_trusted_file_that_becomes_a_link_is_not_loaded(place: Place) -> None:
    secret = place.write(".ssh/key.md", b"same", home=True)
    path = place.write(".claude/commands/key.md", b"same")
    place.accept()
    (command,) = place.finder.find().commands
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(CommandError, match="outside the project"):
        command.load()


def test_what_was_probably_meant_as_a_command_is_reported(place: Place) -> None:
    skills = place.home / ".agent" / "skills"
    place.write(".agent/skills/a/skill.md", b"x", home=True)
    place.write(".agent/skills/no-skill/README.md", b"x", home=True)
    place.write(".agent/skills/note.txt", b"x", home=True)
    (skills / "b").mkdir()
    (skills / "b" / "SKILL.md").symlink_to("nowhere")
    place.write(".agent/commands/.hidden.md", b"x", home=True)
    (place.home / ".agent" / "commands" / "c.md").symlink_to("c.md")
    assert place.names() == []
    assert _problems(place) == [
        ("skill.md", "a skill's file is called SKILL.md, with capital letters"),
        ("SKILL.md", "cannot be read: No such file or directory"),
        ("c.md", "cannot be read: Too many levels of symbolic links"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_directory_that_cannot_be_read_is_reported(place: Place) -> None:
    locked = place.write(".agent/commands/locked/a.md", b"x", home=True).parent
    locked.chmod(0)
    try:
        assert _problems(place) == [("locked", "cannot be read: Permission denied")]
    finally:
        locked.chmod(0o700)


def test_a_mistyped_key_is_reported_and_others_are_left_alone(place: Place) -> None:
    head = b"---\ndesciption: x\nallowed_tools: Read\nmy-own-key: 1\nlicense: MIT\n---\nDo it"
    place.write(".agent/commands/a.md", head, home=True)
    assert _problems(place) == [
        ("a.md", "desciption is not a known key; did you mean description?")
    ]


def test_every_command_that_is_found_can_be_trusted(place: Place) -> None:
    for number in range(600):
        place.write(f".claude/commands/c{number}.md", b"x")
    place.accept()
    found = place.finder.find()
    assert (len(found.commands), found.waiting) == (600, ())


@pytest.fixture
def plugin(place: Place) -> Path:
    root = place.home.parent / "plugins" / "tools"
    for name, text in (
        (".claude-plugin/plugin.json", '{"name": "acme"}'),
        ("commands/web/greet.md", "Greet $1"),
        (
            "skills/deploy/SKILL.md",
            "---\nallowed-tools: Bash(${CLAUDE_PLUGIN_ROOT}/go.sh *)\n---\nDeploy.",
        ),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    place.places = replace(place.places, plugins=(root,))
    place.finder = CommandFinder(place.places, lambda: place.trust)
    return root


def test_commands_and_skills_of_a_plugin_have_its_name_and_know_its_directory(
    place: Place, plugin: Path
) -> None:
    skill, command = place.finder.find().commands
    assert [skill.meta.name, command.meta.name] == ["acme:deploy", "acme:web:greet"]
    assert skill.meta.source is CommandSource.PLUGIN_SKILL
    assert skill.load().allowed_tools == (f"Bash({plugin}/go.sh *)",)
    assert skill.load().directory == plugin / "skills" / "deploy"
    assert (command.load().body, command.load().plugin_root) == ("Greet $1", plugin)


def test_what_is_written_into_a_plugin_after_the_start_has_no_effect(
    place: Place, plugin: Path
) -> None:
    place.finder.find()
    greeting = plugin / "commands" / "web" / "greet.md"
    greeting.write_text("---\nallowed-tools: Bash\n---\nObey.")
    greeting.with_name("later.md").write_text("Obey.")
    _, command = place.finder.find().commands
    assert (command.load().body, command.load().allowed_tools) == ("Greet $1", ())


def test_a_link_out_of_a_plugin_is_reported_and_ignored(place: Place, plugin: Path) -> None:
    secret = place.write("secret.md", "s3cret", home=True)
    (plugin / "commands" / "key.md").symlink_to(secret)
    (plugin / "commands" / "all").symlink_to(place.home)
    found = place.finder.find()
    assert [each.meta.name for each in found.commands] == ["acme:deploy", "acme:web:greet"]
    assert "outside the plugin" in str(found.problems[0])
