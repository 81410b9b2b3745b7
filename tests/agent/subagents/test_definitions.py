"""Agent files and `--agents`: what they become, and what becomes of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings.trust import TrustState
from agent.subagents.agent_files import (
    MAX_FILES,
    AgentFiles,
    agent_directories,
    read_agent_files,
)
from agent.subagents.agent_tools import NoTools, startable, tools_of
from agent.subagents.catalog import AgentCatalog, UnknownAgent, listing_of
from agent.subagents.definition import AgentDefinition, AgentSource
from agent.subagents.definition_fields import NoAgent, agent_from_json, agent_from_markdown
from agent.tools.registry import ToolRegistry
from permissions.mode import Mode

FILE = """---
name: api-reviewer
description: |
  Reviews: the API layer.
  Use it after changes.
tools: Read, Grep, Bash(git diff *), mcp__github
disallowedTools: WebFetch
model: haiku
effort: high
permissionMode: plan
maxTurns: 12
skills: [style, naming]
memory: project
background: true
isolation: worktree
color: cyan
---
You review interfaces.
"""


def parse(text: str) -> AgentDefinition:
    return agent_from_markdown(text.encode(), source=AgentSource.USER, path=Path("a.md"))


def agent(**fields: object) -> AgentDefinition:
    return AgentDefinition(name="x", description="y", **fields)  # type: ignore[arg-type]


def test_every_field_of_a_file_is_read() -> None:
    found = parse(FILE)
    assert found == AgentDefinition(
        name="api-reviewer",
        description="Reviews: the API layer.\nUse it after changes.",
        prompt="You review interfaces.",
        source=AgentSource.USER,
        path=Path("a.md"),
        tools=("Read", "Grep", "Bash(git diff *)", "mcp__github"),
        disallowed_tools=("WebFetch",),
        model="haiku",
        effort="high",
        permission_mode=Mode.PLAN,
        max_turns=12,
        skills=("style", "naming"),
        memory="project",
        background=True,
        isolation="worktree",
        color="cyan",
    )


def test_a_file_without_a_name_is_documentation() -> None:
    with pytest.raises(NoAgent, match=r"^$"):
        parse("# How we use agents\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("---\nname: a:b\ndescription: x\n---\n", "name is 'a:b'"),
        ("---\nname: -x\ndescription: x\n---\n", "name is '-x'"),
        ("---\nname: x\n---\n", "no description"),
        ("---\nname: x\ndescription: y\n", "no closing ---"),
    ],
)
def test_a_file_that_defines_no_agent_gives_the_reason(text: str, why: str) -> None:
    with pytest.raises(NoAgent, match=why):
        parse(text)


@pytest.mark.parametrize(
    "head",
    [
        "tools:\n\t- Read",
        "tools [Read",
        "- tools: [Read",
        "tools: [[Read]]",
        "tools: {Read: yes}",
        "disallowedTools: 5",
        "disallowedTools: [[Bash]]",
        "disallowedTools:\n\t- Bash",
        "Disallowed-Tools: {Bash: yes}",
    ],
)
def test_limits_that_cannot_be_read_are_no_tools_and_not_all(head: str) -> None:
    found = parse(f"---\nname: a\ndescription: d\n{head}\n---\nYou are it.\n")
    assert found.tools == ()
    assert found.problems


@pytest.mark.parametrize("value", ["[plan]", "{plan: x}", "5", "\n\t- plan"])
def test_a_mode_that_cannot_be_read_is_the_strictest(value: str) -> None:
    found = parse(f"---\nname: a\ndescription: d\npermissionMode: {value}\n---\n")
    assert found.permission_mode is Mode.PLAN


@pytest.mark.parametrize("key", ["disallowed-tools", "disallowed_tools", "DisallowedTools"])
def test_a_field_is_known_in_each_spelling(key: str) -> None:
    assert parse(f"---\nname: a\ndescription: d\n{key}: Bash\n---\n").disallowed_tools == ("Bash",)


def test_the_field_of_skills_is_named_where_it_does_nothing() -> None:
    found = parse("---\nname: a\ndescription: d\nallowed-tools: Read\n---\n")
    assert found.problems == ("allowed-tools has no effect in an agent; the field is `tools`",)


def test_a_list_of_tools_that_cannot_be_read_is_no_tools_and_not_all() -> None:
    found = parse("---\nname: x\ndescription: y\ntools: {Read: true}\n---\n")
    assert found.tools == ()
    assert found.problems == ("tools should be a list",)


def test_a_mode_that_no_one_knows_is_the_strictest() -> None:
    found = parse("---\nname: x\ndescription: y\npermissionMode: yolo\n---\n")
    assert found.permission_mode is Mode.PLAN
    assert "yolo" in found.problems[0]


def test_a_plugin_may_not_bring_hooks_servers_or_a_mode() -> None:
    data = b"---\nname: x\ndescription: y\npermissionMode: plan\nhooks: {}\n---\n"
    found = agent_from_markdown(data, source=AgentSource.PLUGIN, path=Path("a"), prefix="p:")
    assert (found.name, found.permission_mode, found.hooks) == ("p:x", None, None)
    assert len(found.problems) == 2


def test_an_entry_of_the_command_line_needs_a_prompt() -> None:
    raw = {"description": "d", "prompt": "p", "tools": ["Read"], "model": "inherit"}
    found = agent_from_json("x", raw, source=AgentSource.FLAG)
    assert (found.tools, found.model, found.prompt) == (("Read",), None, "p")
    with pytest.raises(NoAgent, match="no prompt"):
        agent_from_json("x", {"description": "d"}, source=AgentSource.FLAG)


def test_agents_of_a_plugin_have_the_name_of_its_manifest(tmp_path: Path) -> None:
    named, unnamed, broken = (tmp_path / name for name in ("1.2.0", "plug", "broken"))
    for root, manifest in ((named, '{"name": "review"}'), (unnamed, "{}"), (broken, "{")):
        (root / ".claude-plugin").mkdir(parents=True)
        (root / ".claude-plugin" / "plugin.json").write_text(manifest)
    directories = agent_directories(
        project_root=tmp_path,
        launch_dir=tmp_path,
        home=tmp_path,
        agent_home=tmp_path,
        policy=tmp_path,
        plugins=(named, unnamed, broken),
    )
    assert [one.prefix for one in directories[-3:]] == ["review:", "plug:", "broken:"]


def test_project_files_wait_for_trust_and_the_first_of_a_name_wins(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for base, words in ((project / ".agent", "ours"), (home / ".claude", "theirs")):
        (base / "agents" / "deep").mkdir(parents=True)
        (base / "agents" / "deep" / "a.md").write_text(
            f"---\nname: helper\ndescription: {words}\n---\n"
        )
    directories = agent_directories(
        project_root=project,
        launch_dir=project,
        home=home,
        agent_home=home / ".agent",
        policy=tmp_path / "policy",
        plugins=(),
    )

    def read(*, trusted: bool) -> AgentFiles:
        state = TrustState(project, is_trusted=trusted, items=(), accepted_digests=frozenset())
        return read_agent_files(directories, project, lambda: state)

    waiting = read(trusted=False)
    assert waiting.waiting == (".agent/agents/deep/a.md",)
    assert [one.description for one in waiting.definitions] == ["theirs"]


def test_agents_of_the_folder_where_a_session_starts_come_before_those_of_the_root(
    tmp_path: Path,
) -> None:
    start = tmp_path / "packages" / "app"
    directories = agent_directories(
        project_root=tmp_path,
        launch_dir=start,
        home=tmp_path / "home",
        agent_home=tmp_path / "home" / ".agent",
        policy=tmp_path / "policy",
        plugins=(),
    )
    paths = [one.path for one in directories if one.source is AgentSource.PROJECT]
    assert paths[1] == start / ".claude" / "agents"
    assert paths[-1] == tmp_path / ".claude" / "agents"
    assert len(paths) == 6


def test_a_link_out_of_the_project_is_no_agent(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".agent" / "agents").mkdir(parents=True)
    outside = tmp_path / "secret.md"
    outside.write_text("---\nname: x\ndescription: y\n---\nsecret")
    (project / ".agent" / "agents" / "x.md").symlink_to(outside)
    directories = agent_directories(
        project_root=project,
        launch_dir=project,
        home=home,
        agent_home=home / ".agent",
        policy=tmp_path / "policy",
        plugins=(),
    )
    state = TrustState(project, is_trusted=True, items=(), accepted_digests=frozenset())
    found = read_agent_files(directories, project, lambda: state)
    assert found.definitions == ()
    assert "outside the project" in found.problems[0]


def test_thousands_of_files_of_a_project_keep_no_file_of_the_user_away(tmp_path: Path) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    for base, count in ((project / ".agent", MAX_FILES + 5), (home / ".agent", 1)):
        (base / "agents").mkdir(parents=True)
        for number in range(count):
            (base / "agents" / f"{number}.md").write_text(
                f"---\nname: of-{base.parent.name}-{number}\ndescription: y\n---\n"
            )
    directories = agent_directories(
        project_root=project,
        launch_dir=project,
        home=home,
        agent_home=home / ".agent",
        policy=tmp_path / "policy",
        plugins=(),
    )
    state = TrustState(
        project, is_trusted=True, items=(), accepted_digests=frozenset(), by_flag=True
    )
    found = read_agent_files(directories, project, lambda: state)
    assert found.definitions[-1].name == "of-home-0"
    assert found.problems == (f"{project}/.agent/agents: more than {MAX_FILES} agent files",)


def catalog(*definitions: AgentDefinition, flags: dict[str, object] | None = None) -> AgentCatalog:
    return AgentCatalog(lambda: AgentFiles(definitions), flags)


def test_an_unknown_kind_is_an_error_that_names_the_kinds() -> None:
    with pytest.raises(UnknownAgent, match="general-purpose, explore, plan, reviewer"):
        catalog().get("reviwer")


def test_a_kind_that_waits_for_trust_is_named() -> None:
    waiting = AgentFiles((), (".agent/agents/deep/mine.md",))
    with pytest.raises(UnknownAgent, match=r"^\.agent/agents/deep/mine\.md has no effect until"):
        AgentCatalog(lambda: waiting).get("Mine")


def test_the_four_built_in_kinds_are_there_and_a_file_takes_the_place_of_one() -> None:
    found = catalog(AgentDefinition(name="plan", description="ours", source=AgentSource.USER))
    assert found.get("plan").description == "ours"
    assert found.get("Explore").name == "explore"
    assert found.get("").name == "general-purpose"


def test_the_command_line_wins_over_files_and_policy_over_both() -> None:
    flags: dict[str, object] = {"a": {"description": "flag", "prompt": "p"}}
    user = AgentDefinition(name="a", description="user", source=AgentSource.USER)
    policy = AgentDefinition(name="a", description="policy", source=AgentSource.POLICY)
    assert catalog(user, flags=flags).get("a").description == "flag"
    assert catalog(user, policy, flags=flags).get("a").description == "policy"


def test_what_is_wrong_with_an_entry_is_reported() -> None:
    assert catalog(flags={"a": {"description": "d"}}).problems == ("--agents: a has no prompt",)


def test_the_model_is_informed_again_only_when_the_kinds_changed() -> None:
    files = [AgentFiles()]
    found = AgentCatalog(lambda: files[0])
    assert "reviewer" in found.listing()
    assert found.news() is None
    files[0] = AgentFiles((AgentDefinition(name="new", description="fresh"),))
    found.refresh()
    assert "new: fresh" in (found.news() or "")
    assert found.news() is None


def test_a_long_list_is_cut_and_names_the_rest() -> None:
    many = [AgentDefinition(name=f"a{n}", description="x" * 600) for n in range(60)]
    listing = listing_of(many)
    assert len(listing) < 14_000
    assert "a59" in listing.splitlines()[-1]


def names(definition: AgentDefinition, *, may_start_agents: bool = True) -> set[str]:
    found = tools_of(definition, ToolRegistry(), may_start_agents=may_start_agents)
    return {tool.name for tool in found.registry.all()}


def test_an_agent_gets_what_its_list_names_and_its_parent_has() -> None:
    assert names(agent(tools=("Read", "Task", "LS"))) == {"Read", "Agent"}
    assert names(agent(tools=("Read", "Agent")), may_start_agents=False) == {"Read"}
    assert "AskUserQuestion" not in names(agent())
    assert names(agent(tools=("Read", "Grep"), disallowed_tools=("Grep",))) == {"Read"}


def test_a_list_of_which_nothing_is_there_refuses_the_start_and_names_it() -> None:
    with pytest.raises(NoTools, match="mcp__gone, Paint"):
        names(agent(tools=("mcp__gone", "Paint")))
    with pytest.raises(NoTools, match="empty"):
        names(agent(tools=()))


def test_tools_of_a_list_that_the_conversation_has_not_are_named() -> None:
    flags = {"x": {"description": "d", "prompt": "p", "tools": ["Read", "Nope", "mcp__gone"]}}
    names = [tool.name for tool in ToolRegistry().all()]
    catalog = AgentCatalog(AgentFiles, flags, tool_names=lambda: names)
    assert catalog.missing_tools(catalog.get("x")) == ("Nope", "mcp__gone")
    assert catalog.missing_tools(catalog.get("explore")) == ()
    assert catalog.missing_tools(catalog.get("general-purpose")) == ()


def test_entries_with_a_specifier_become_rules_unless_the_tool_is_listed_whole() -> None:
    def rules(*tools: str) -> tuple[str, ...]:
        return tools_of(agent(tools=tools), ToolRegistry(), may_start_agents=True).only

    assert rules("Bash(git *)", "Read") == ("Bash(git *)",)
    assert rules("Bash(git *)", "Bash") == ()
    assert rules("Bash(*)") == ()


def test_servers_are_named_and_their_tools_are_added() -> None:
    text = (
        "---\nname: x\ndescription: y\ntools: Read\nmcpServers: [my db, {b: {command: c}}]\n---\n"
    )
    found = parse(text)
    assert found.mcp_servers == ("my db", "b")
    assert found.own_servers == {"b": {"command": "c"}}
    assert found.problems == ()
    registry = ToolRegistry()
    assert tools_of(found, registry, may_start_agents=True).missing == ("mcp__my_db", "mcp__b")


@pytest.mark.parametrize(
    ("written", "names", "problem"),
    [
        ("{a: {command: c}, b: {type: http, url: 'https://b'}}", ("a", "b"), ""),
        ("[{a: {type: pigeon}}, b]", ("b",), "mcpServers.a.type: expected one of"),
        ("[{a: {url: 'https://a'}}]", (), 'mcpServers.a: has a "url" but no "type"'),
        ("[7]", (), "mcpServers should be a list of names and of configurations"),
    ],
)
def test_servers_of_a_definition_are_checked_as_those_of_settings(
    written: str, names: tuple[str, ...], problem: str
) -> None:
    found = parse(f"---\nname: x\ndescription: y\nmcpServers: {written}\n---\n")
    assert found.mcp_servers == names
    assert ("".join(found.problems)).startswith(problem)
    assert bool(found.problems) == bool(problem)


def test_the_kinds_that_an_agent_may_start_can_be_listed() -> None:
    assert startable(agent(tools=("Agent(explore, plan)", "Read"))) == ("explore", "plan")
    assert startable(agent(tools=("Agent",))) is None
    assert startable(agent()) is None


PUBLIC_HEADS = {
    "net-4.8": "description: Use when: it is old\ntools: Read, Write, Bash\nmodel: sonnet",
    "quoted": 'description: "Quoted: text"\ntools: [Read, Grep]\ncolor: magenta',
    "folded": "description: >-\n  folded\n  text\nmodel: inherit",
    "braces": "description: Knows [x] and {y}: z\ntools: Read Grep Glob",
    "listed": "description: words\ntools:\n  - Bash(npm run *)\n  - mcp__db__query\nversion: 2",
    "example": 'description: For x.\\n\\n<example>\\nuser: "y"\\n</example>\nmodel: opus\n'
    "tools: Glob, LS, KillShell",
    "block": "description: |\n  For x.\n\n  - a: b\nmodel: haiku\ntools: Read, Bash(git log *, -n)",
}


@pytest.mark.parametrize(
    ("name", "description", "tools", "model"),
    [
        ("net-4.8", "Use when: it is old", ("Read", "Write", "Bash"), "sonnet"),
        ("quoted", "Quoted: text", ("Read", "Grep"), None),
        ("folded", "folded text", None, None),
        ("braces", "Knows [x] and {y}: z", ("Read", "Grep", "Glob"), None),
        ("listed", "words", ("Bash(npm run *)", "mcp__db__query"), None),
        (
            "example",
            'For x.\\n\\n<example>\\nuser: "y"\\n</example>',
            ("Glob", "LS", "KillShell"),
            "opus",
        ),
        ("block", "For x.\n\n- a: b", ("Read", "Bash(git log *, -n)"), "haiku"),
    ],
)
def test_files_as_public_collections_have_them(
    name: str, description: str, tools: tuple[str, ...] | None, model: str | None
) -> None:
    """Heads that are no YAML, colors of other programs, lists in three forms."""
    found = parse(f"---\nname: {name}\n{PUBLIC_HEADS[name]}\n---\n\nYou are it.\n")
    assert (found.name, found.description) == (name, description)
    assert (found.tools, found.model) == (tools, model)
    assert found.prompt == "You are it."
