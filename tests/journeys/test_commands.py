"""Commands, skills and mentions, from what is typed to what the model gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.commands.command_results import ShowText
from agent.commands.spec import LocalCommand
from agent.events import AgentEvent, MessageCommitted, Notice
from agent.model.scripted.scenario import Text, ToolCall, Turn
from agent.settings.trust import TrustStore
from agent.user_prompt import Prompt
from permissions.rule import RuleSource
from tests.journeys.conftest import Begin, Journey, no, results, terminal, yes

DONE = Turn((Text("Done."),))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def seen(journey: Journey) -> str:
    return str(journey.last_messages())


def hook_verdict(word: str, **fields: object) -> str:
    own = {"hookEventName": "PreSkillShellCommand", "permissionDecision": word, **fields}
    return json.dumps({"hookSpecificOutput": own})


def notices(events: list[AgentEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_a_command_becomes_its_text_and_the_user_keeps_their_words(begin: Begin) -> None:
    journey = await begin([DONE])
    write(journey.environment.agent_home / "commands" / "fix.md", "Repair $1 with care.")
    await journey.assembled.commands.custom.refresh()
    await journey.send("/fix basket.py")
    assert "Repair basket.py with care." in seen(journey)
    assert journey.conversation.view.prompts[-1].text == "/fix basket.py"


async def test_commands_inside_run_through_the_gate_with_the_rules_of_the_turn(
    begin: Begin,
) -> None:
    journey = await begin([DONE], answers=[no()])
    write(
        journey.environment.agent_home / "commands" / "note.md",
        "---\nallowed-tools: Bash(touch:*)\n---\nMade: !`touch made.txt && echo yes-$1`",
    )
    await journey.assembled.commands.custom.refresh()
    events = await journey.send("/note $(unknown-program)")
    assert terminal(events).reason == "stop_hook_prevented"
    assert not (journey.project / "made.txt").exists()
    await journey.send("/note one")
    assert (journey.project / "made.txt").exists()
    assert "Made: yes-one" in seen(journey)
    rules = journey.conversation.gate.context.rules.rules
    assert [rule.text for rule in rules if rule.source is RuleSource.SESSION] == []


async def test_a_deny_rule_beats_the_tools_a_command_allows(begin: Begin) -> None:
    journey = await begin([DONE], deny=("Bash(touch:*)",))
    write(
        journey.environment.agent_home / "commands" / "note.md",
        "---\nallowed-tools: Bash(touch:*)\n---\n!`touch made.txt`",
    )
    await journey.assembled.commands.custom.refresh()
    events = await journey.send("/note")
    assert terminal(events).reason == "stop_hook_prevented"
    assert not (journey.project / "made.txt").exists()


async def test_output_of_a_command_is_not_expanded_again(begin: Begin) -> None:
    journey = await begin([DONE])
    (journey.project / "secret.txt").write_text("very secret")
    write(
        journey.environment.agent_home / "commands" / "odd.md",
        "---\nallowed-tools: Bash(echo:*)\n---\n!`echo '@secret.txt $ARGUMENTS'`",
    )
    await journey.assembled.commands.custom.refresh()
    await journey.send("/odd x")
    assert "very secret" not in seen(journey)


async def test_a_projects_command_does_nothing_before_trust(begin: Begin) -> None:
    journey = await begin([DONE])
    write(journey.project / ".agent" / "commands" / "evil.md", "Do evil")
    await journey.assembled.commands.custom.refresh()
    assert journey.assembled.commands.registry.find("evil") is None
    await journey.send("/evil")
    assert "Do evil" not in seen(journey)


async def test_hooks_may_stop_a_command(begin: Begin) -> None:
    journey = await begin([DONE])
    write(journey.environment.agent_home / "commands" / "fix.md", "Repair")
    await journey.assembled.commands.custom.refresh()
    config = journey.assembled.hook_runner.config
    assert config.handlers == {}
    write(
        journey.environment.agent_home / "settings.json",
        '{"hooks": {"UserPromptExpansion": [{"matcher": "fix", "hooks": '
        '[{"type": "command", "command": "echo no >&2; exit 2"}]}]}}',
    )
    second = await begin([DONE])
    events = await second.send("/fix")
    assert terminal(events).reason == "stop_hook_prevented"


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        ("echo no >&2; exit 2", False),
        *((f"echo '{hook_verdict(word)}'", False) for word in ("deny", "ask", "defer")),
        (f"echo '{hook_verdict('allow', updatedInput={'command': 'true'})}'", False),
        (f"echo '{hook_verdict('allow')}'", True),
    ],
)
async def test_hooks_may_keep_a_command_in_a_skill_from_running(
    begin: Begin, answer: str, runs: bool
) -> None:
    journey = await begin([DONE], allow=("Bash",))
    home = journey.environment.agent_home
    write(home / "commands" / "fix.md", "State: !`touch made; echo clean`")
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": f"cat > seen; {answer}"}]}
    write(home / "settings.json", json.dumps({"hooks": {"PreSkillShellCommand": [hook]}}))
    second = await begin([DONE], allow=("Bash",), server=journey.server)
    events = await second.send("/fix")
    assert (second.project / "made").exists() is runs
    assert (terminal(events).reason == "completed") is runs
    payload = json.loads((second.project / "seen").read_text())
    assert payload["tool_input"] == {"command": "touch made; echo clean"}
    assert (payload["command_name"], payload["invoked_by"]) == ("fix", "user")


async def test_mentioned_files_are_attached_within_the_rules(begin: Begin) -> None:
    journey = await begin([DONE], deny=("Read(secret.txt)",))
    (journey.project / "a b.py").write_text("print('hello from a b')\n")
    (journey.project / "secret.txt").write_text("very secret")
    (journey.project / "src").mkdir()
    (journey.project / "src" / "x.py").write_text("1\n2\n3\n")
    events = await journey.send('look at @"a b.py", @secret.txt, @src/x.py#2 and @src. Or @nobody')
    sent = seen(journey)
    assert "hello from a b" in sent
    assert "very secret" not in sent
    assert "2\\t2" in sent
    assert "3\\t3" not in sent
    assert "src is a folder with:\\nx.py" in sent
    told, refused = notices(events)
    assert told == "attached: a b.py, src/x.py#2, src/"
    assert refused.startswith("@secret.txt is not attached: the rule Read(secret.txt)")


async def test_the_copy_of_a_pasted_image_is_named_without_its_directory(begin: Begin) -> None:
    journey = await begin([DONE])
    scratch = journey.assembled.commands.context.gate.context.scratch_dir
    assert scratch is not None
    copy = scratch / "pasted-1.txt"
    write(copy, "from the clipboard")
    events = await journey.send(f'look at @"{copy}"')
    assert notices(events) == ["attached: pasted-1.txt"]
    assert "from the clipboard" in seen(journey)


async def test_a_mention_means_the_file_that_was_offered_wherever_the_shell_is(
    begin: Begin,
) -> None:
    cd = ToolCall("Bash", {"command": "cd src"})
    journey = await begin([Turn((cd,)), DONE, DONE], answers=[yes()])
    for directory in (journey.project, journey.project / "src"):
        write(directory / "same.py", f"in {directory.name}")
    write(journey.project / "src" / "x.py", "below")
    await journey.send("go there")
    assert journey.conversation.view.cwd == journey.project / "src"
    events = await journey.send("look at @src/x.py, @same.py and @x.py")
    assert notices(events) == ["attached: src/x.py, same.py, src/x.py"]
    assert f"in {journey.project.name}" in seen(journey)


async def test_a_mistyped_path_is_reported_and_a_word_is_not(begin: Begin) -> None:
    journey = await begin([DONE])
    write(journey.project / "src" / "x.py", "1")
    events = await journey.send(
        "see @src/y.py, @./nope.py#3. And @somebody, @types/node, @/components/Button, a@src/z"
    )
    assert notices(events) == [
        "@src/y.py is not attached: file not found",
        "@./nope.py is not attached: file not found",
    ]


async def test_a_link_out_of_the_project_is_not_attached(begin: Begin, tmp_path: Path) -> None:
    journey = await begin([DONE])
    (tmp_path / "outside.txt").write_text("from outside")
    (journey.project / "link.txt").symlink_to(tmp_path / "outside.txt")
    await journey.send("look at @link.txt and @../outside.txt")
    assert "from outside" not in seen(journey)


async def test_a_mentioned_file_counts_as_read(begin: Begin) -> None:
    edit = {"file_path": "${cwd}/a.py", "old_string": "1", "new_string": "2"}
    journey = await begin([Turn((ToolCall("Edit", edit),)), DONE], answers=[yes()])
    (journey.project / "a.py").write_text("1\n")
    await journey.send("change @a.py")
    assert (journey.project / "a.py").read_text() == "2\n"


async def test_the_model_is_informed_of_skills_and_can_load_one(
    begin: Begin, fresh_home: Path
) -> None:
    write(
        fresh_home / ".agent" / "skills" / "deploy" / "SKILL.md",
        "---\ndescription: How to deploy\n---\nRun make ship for $0.",
    )
    call = ToolCall("Skill", {"skill": "deploy", "args": "prod"})
    journey = await begin([Turn((call,)), DONE], answers=[yes()])
    events = await journey.send("deploy it")
    assert "- deploy: How to deploy" in str(journey.server.requests[0].body["messages"])
    (result,) = results(events)
    assert result.outcome == "ok"
    assert "Run make ship for prod." in seen(journey)


async def test_a_skill_asks_only_if_it_brings_rules_or_hooks(
    begin: Begin, fresh_home: Path
) -> None:
    skills = fresh_home / ".agent" / "skills"
    write(skills / "plain" / "SKILL.md", "---\ndescription: Plain\nmodel: small\n---\nPlain text.")
    write(
        skills / "open" / "SKILL.md",
        "---\ndescription: Opens\nallowed-tools: Bash(make *)\n---\nOpen text.",
    )
    calls = [Turn((ToolCall("Skill", {"skill": name}),)) for name in ("plain", "open")]
    journey = await begin([*calls, DONE], answers=[no()])
    plain, other = results(await journey.send("use them"))
    assert (plain.outcome, other.outcome) == ("ok", "denied")


FORK = "---\ndescription: How to look\ncontext: fork\nagent: Explore\n---\nLook at $0 closely."


async def test_a_skill_that_forks_is_carried_out_by_a_sub_agent(
    begin: Begin, fresh_home: Path
) -> None:
    write(fresh_home / ".agent" / "skills" / "look" / "SKILL.md", FORK)
    call = ToolCall("Skill", {"skill": "look", "args": "a.py"})
    report = Turn((Text("Nothing odd in a.py."),))
    journey = await begin([Turn((call,)), report, DONE], answers=[yes()])
    events = await journey.send("look into it")
    (result,) = results(events)
    assert (result.outcome, "Nothing odd in a.py." in result.text) == ("ok", True)
    inner = journey.server.requests[1].body
    assert "Look at a.py closely." in str(inner["messages"])
    assert {tool["name"] for tool in inner["tools"]} <= {"Read", "Glob", "Grep", "WebFetch"}
    assert "Look at a.py closely." not in seen(journey)


@pytest.mark.parametrize("rule", ["Agent", "Agent(Explore)"])
async def test_a_skill_starts_no_sub_agent_that_a_rule_denies(
    begin: Begin, fresh_home: Path, rule: str
) -> None:
    write(fresh_home / ".agent" / "skills" / "look" / "SKILL.md", FORK)
    settings = json.dumps({"permissions": {"deny": [rule]}})
    write(fresh_home / ".agent" / "settings.json", settings)
    call = ToolCall("Skill", {"skill": "look", "args": "a.py"})
    journey = await begin([Turn((call,)), DONE], answers=[yes()])
    (result,) = results(await journey.send("look into it"))
    assert (result.outcome, "Look at a.py closely." in result.text) == ("ok", True)
    assert len(journey.server.requests) == 2


async def test_a_skill_that_forks_is_handed_on_when_the_user_runs_it(
    begin: Begin, fresh_home: Path
) -> None:
    write(fresh_home / ".agent" / "skills" / "look" / "SKILL.md", FORK)
    journey = await begin([DONE])
    await journey.send("/look b.py")
    assert "call Agent with subagent_type 'Explore'" in seen(journey)
    assert "Look at b.py closely." in seen(journey)


async def test_local_commands_answer_without_the_model(begin: Begin) -> None:
    journey = await begin([])
    command_service = journey.assembled.commands
    for name in ("cost", "status", "todos", "skills", "effort", "copy", "add-dir"):
        command = command_service.registry.find(name)
        assert isinstance(command, LocalCommand)
        assert isinstance(await command_service.run_local(command, ""), ShowText)
    assert journey.server.requests == []


async def test_an_added_directory_is_in_scope_and_the_home_is_not(
    begin: Begin, tmp_path: Path, fresh_home: Path
) -> None:
    journey = await begin([DONE])
    more = tmp_path / "more"
    more.mkdir()
    (more / "x.txt").write_text("there")
    command_service = journey.assembled.commands
    command = command_service.registry.find("add-dir")
    assert isinstance(command, LocalCommand)
    refused = await command_service.run_local(command, str(fresh_home))
    assert isinstance(refused, ShowText)
    assert "too broad" in refused.text
    await command_service.run_local(command, str(more))
    await journey.send(f"see @{more}/x.txt")
    assert "there" in seen(journey)


async def test_a_queued_command_waits_for_the_end_of_the_turn(begin: Begin) -> None:
    read = ToolCall("Read", {"file_path": "${cwd}/a.py"})
    journey = await begin([Turn((read,)), DONE, DONE])
    (journey.project / "a.py").write_text("1\n")
    write(journey.environment.agent_home / "commands" / "later.md", "The later text")
    await journey.assembled.commands.custom.refresh()
    queued = False

    def queue(event: AgentEvent) -> None:
        nonlocal queued
        if isinstance(event, MessageCommitted) and not queued:
            queued = True
            journey.conversation.prompt_queue.add(Prompt("/later"))

    await journey.send("read it", queue)
    assert [p.text for p in journey.conversation.prompt_queue.prompts] == ["/later"]
    assert "The later text" not in seen(journey)


async def test_what_a_queued_prompt_attaches_is_reported_in_the_turn_that_runs(
    begin: Begin,
) -> None:
    read = ToolCall("Read", {"file_path": "${cwd}/a.py"})
    journey = await begin([Turn((read,)), DONE], deny=("Read(secret.txt)",))
    for name in ("a.py", "b.py", "secret.txt"):
        write(journey.project / name, f"this is {name}")
    queued = False

    def queue(event: AgentEvent) -> None:
        nonlocal queued
        if isinstance(event, MessageCommitted) and not queued:
            queued = True
            journey.conversation.prompt_queue.add(Prompt("and @b.py, @secret.txt"))

    events = await journey.send("read it", queue)
    told, refused = (event for event in events if isinstance(event, Notice))
    assert (told.level, told.text) == ("info", "attached: b.py")
    assert (refused.level, "secret.txt" in refused.text) == ("warning", True)
    assert told.turn_id == terminal(events).turn_id
    assert "this is b.py" in seen(journey)


async def test_what_is_accepted_while_the_program_runs_counts_at_once(begin: Begin) -> None:
    journey = await begin([DONE])
    write(journey.project / ".agent" / "commands" / "own.md", "The project's own words")
    command_service = journey.assembled.commands
    await command_service.custom.refresh()
    await command_service.context.reload_settings()
    state = command_service.context.settings().trust
    assert [item.label for item in state.new] == [".agent/commands/own.md"]
    TrustStore(journey.environment.agent_home / "trust.json").accept(state)
    await command_service.context.reload_settings()
    await command_service.custom.refresh()
    assert command_service.custom.waiting == ()
    await journey.send("/own")
    assert "The project's own words" in seen(journey)


async def test_a_commands_model_counts_for_its_turn_alone(begin: Begin) -> None:
    journey = await begin([DONE, DONE])
    head = "---\nmodel: haiku\neffort: low\n---\nQuick"
    write(journey.environment.agent_home / "commands" / "quick.md", head)
    await journey.assembled.commands.custom.refresh()
    before = journey.conversation.status.model
    await journey.send("/quick")
    assert journey.server.requests[-1].body["model"] == "claude-haiku-5-5"
    assert (journey.conversation.status.model, journey.conversation.status.effort) == (before, None)
    await journey.send("go on")
    assert journey.server.requests[-1].body["model"] == before


async def test_a_command_of_a_plugin_becomes_its_text(begin: Begin, tmp_path: Path) -> None:
    plugin = tmp_path / "acme"
    write(plugin / "commands" / "greet.md", "Greet $1 as in ${CLAUDE_PLUGIN_ROOT}/tone.txt")
    journey = await begin([DONE], plugin_dirs=(plugin,))
    await journey.assembled.commands.custom.refresh()
    await journey.send("/acme:greet Ada")
    assert f"Greet Ada as in {plugin}/tone.txt" in seen(journey)
