"""What one session finds is there in the next one; only where the user turned it on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from agent.events import Compacted
from agent.messages import Block
from agent.model.scripted.faults import Status
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    ToolCall,
    Turn,
    When,
)
from permissions.decision import Behavior
from permissions.resolve.handlers import user_decision
from tests.journeys.conftest import Begin, Journey, terminal

FACT = "---\ntype: feedback\n---\nCommits in Esperanto."
NOTES = "NOTED: the user wants commits in Esperanto."


def asks(request: RecordedRequest) -> bool:
    """Whether it belongs to the agent that looks for facts."""
    return "worth keeping" in json.dumps(request.body["messages"][-12:])


def looked(request: RecordedRequest) -> Sequence[Block]:
    """The blocks behind the question, from the first answer to it on."""
    messages = request.body["messages"]
    start = max(n for n, each in enumerate(messages) if "worth keeping" in json.dumps(each))
    return [block for each in messages[start + 1 :] for block in each["content"]]


def place(request: RecordedRequest, name: str) -> str:
    """The path that the question gives for a file."""
    text = json.dumps(request.body["messages"]).replace("\\n", "\n")
    line = next(line for line in text.splitlines() if line.split(":")[0].endswith(name))
    return line.partition(": ")[0]


def write(path: str, content: str) -> ToolCall:
    return ToolCall("Write", {"file_path": path, "content": content})


def respond(request: RecordedRequest) -> Turn | None:
    if not asks(request):
        return Turn((Text("Working. " + "word " * 1_000),))
    if looked(request):
        return Turn((Text("done"),))
    fact = place(request, "NAME.md").replace("NAME", "esperanto")
    return Turn((write(fact, FACT), write(place(request, "notes.md"), NOTES)))


def turned_on(home: Path) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text('{"autoMemoryEnabled": true}')


def extractions(journey: Journey) -> list[RecordedRequest]:
    return [r for r in journey.server.requests if "messages" in r.body and begins(r)]


def begins(request: RecordedRequest) -> bool:
    """Whether it is the first one of a look."""
    return asks(request) and not looked(request)


async def test_a_fact_reaches_the_next_session(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)
    first = await begin(respond=respond)
    await first.send("Write every commit message in Esperanto.")
    await first.assembled.facts.wait()
    asked = extractions(first)
    assert len(asked) == 1
    # The prefix is the conversation's own, so that it comes from the cache.
    before = first.server.requests[first.server.requests.index(asked[0]) - 1]
    assert asked[0].body["system"] == before.body["system"]
    assert asked[0].body["tools"] == before.body["tools"]
    assert asked[0].body["messages"][0] == before.body["messages"][0]
    assert date.today().isoformat() in json.dumps(asked[0].body["messages"][-1])
    await first.conversation.aclose()

    second = await begin(respond=respond)
    await second.send("hello")
    await second.assembled.facts.wait()
    assert "esperanto: Commits in Esperanto." in json.dumps(second.last_messages()[0])


async def test_nothing_is_asked_unless_it_is_turned_on(begin: Begin, fresh_home: Path) -> None:
    journey = await begin(respond=respond)
    (journey.project / ".agent").mkdir()
    (journey.project / ".agent" / "settings.json").write_text('{"autoMemoryEnabled": true}')
    await journey.conversation.aclose()
    journey = await begin(respond=respond, trust=True)
    await journey.send("Always say hello.")
    await journey.assembled.facts.wait()
    assert extractions(journey) == []
    assert not (fresh_home / ".agent" / "memory").exists()


async def test_a_project_may_turn_it_off_but_not_on(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)
    journey = await begin(respond=respond)
    directory = journey.project / ".agent"
    directory.mkdir()
    for said, expected in (("true", 1), ("false", 0)):
        (directory / "settings.json").write_text(f'{{"autoMemoryEnabled": {said}}}')
        again = await begin(respond=respond, trust=True)
        await again.send("Always say hello.")
        await again.assembled.facts.wait()
        assert len(extractions(again)) == expected


async def test_a_spent_budget_ends_it(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)
    journey = await begin(respond=respond, max_budget_usd=0.000001)
    await journey.send("Always say hello.")
    await journey.assembled.facts.wait()
    assert extractions(journey) == []


async def test_a_turn_without_a_decision_is_not_looked_through(
    begin: Begin, fresh_home: Path
) -> None:
    turned_on(fresh_home)
    journey = await begin(respond=respond)
    await journey.send("List the files.")
    await journey.assembled.facts.wait()
    assert extractions(journey) == []
    await journey.send("Never list them again.")
    await journey.assembled.facts.wait()
    assert len(extractions(journey)) == 1
    # What was not worth it then is looked at now, with the rest.
    count = len(journey.conversation.view.messages)
    assert f"last {count} messages" in json.dumps(extractions(journey)[0].body)


async def test_a_failure_is_silent_and_made_up_for(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)
    plan = FaultPlan(Status(529), when=When(prompt="worth keeping"))
    journey = await begin(scenario=Scenario(faults=(plan,)), respond=respond)
    events = await journey.send("Never say more than needed.")
    await journey.assembled.facts.wait()
    assert terminal(events).reason == "completed"
    assert not list(fresh_home.rglob("esperanto.md"))
    await journey.send("second words")
    await journey.assembled.facts.wait()
    assert list(fresh_home.rglob("esperanto.md"))
    count = len(journey.conversation.view.messages)
    assert f"last {count} messages" in json.dumps(extractions(journey)[-1].body)


async def test_notes_on_the_session_are_a_summary_that_costs_nothing(
    begin: Begin, fresh_home: Path
) -> None:
    turned_on(fresh_home)
    scenario = Scenario(models=(ModelInfo("claude-opus-5-5", max_input_tokens=40_000),))
    journey = await begin(scenario=scenario, respond=respond)
    compacted: list[Compacted] = []
    while not compacted:
        events = await journey.send("Always go on.")
        compacted += [event for event in events if isinstance(event, Compacted)]
        await journey.assembled.facts.wait()
    assert compacted[0].summary == NOTES
    asked = json.dumps([r.body["messages"][-1] for r in journey.server.requests if r.body])
    assert "about to be compacted" not in asked
    assert "NOTED" in journey.conversation.view.messages[0].text


async def test_the_agent_ends_after_five_answers(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)

    def never_ends(request: RecordedRequest) -> Turn | None:
        if not asks(request):
            return respond(request)
        return Turn((ToolCall("Read", {"file_path": place(request, "notes.md")}),))

    journey = await begin(respond=never_ends)
    await journey.send("Never say more than needed.")
    await journey.assembled.facts.wait()
    assert len([r for r in journey.server.requests if asks(r)]) == 5
    # What it read counts as looked at: the next turn does not begin there again.
    await journey.send("Thanks.")
    await journey.assembled.facts.wait()
    assert len([r for r in journey.server.requests if asks(r)]) == 5


async def test_the_agent_has_no_other_tools_and_reaches_no_other_file(
    begin: Begin, fresh_home: Path
) -> None:
    turned_on(fresh_home)
    outside = fresh_home / "outside.md"
    answers: list[Sequence[Block]] = []

    def tries(request: RecordedRequest) -> Turn | None:
        if not asks(request):
            return respond(request)
        if looked(request):
            answers.append(looked(request))
            return Turn((Text("done"),))
        bash = ToolCall("Bash", {"command": f"touch {outside}"})
        return Turn((bash, ToolCall("Agent", {"prompt": "help"}), write(str(outside), FACT)))

    journey = await begin(respond=tries)
    await journey.send("Never say more than needed.")
    await journey.assembled.facts.wait()
    results = [block for block in answers[0] if block["type"] == "tool_result"]
    assert [block["is_error"] for block in results] == [True, True, True]
    assert not outside.exists()
    assert journey.person.asked == []
    # Its calls are no part of the conversation.
    assert "outside.md" not in json.dumps([m.text for m in journey.conversation.view.messages])


async def test_a_rule_that_denies_writing_counts_here_too(begin: Begin, fresh_home: Path) -> None:
    turned_on(fresh_home)
    journey = await begin(respond=respond, deny=("Write",))
    await journey.send("Never say more than needed.")
    await journey.assembled.facts.wait()
    assert extractions(journey)
    assert not list(fresh_home.rglob("esperanto.md"))


async def test_what_the_model_stored_itself_is_not_looked_at_again(
    begin: Begin, fresh_home: Path
) -> None:
    turned_on(fresh_home)
    store = fresh_home / ".agent" / "memory" / "everywhere"

    def stores(request: RecordedRequest) -> Turn | None:
        if asks(request) or "tool_result" in json.dumps(request.body["messages"][-1]):
            return respond(request)
        return Turn((write(str(store / "role.md"), "---\ntype: user\n---\nA biologist."),))

    journey = await begin(respond=stores, answers=[user_decision(Behavior.ALLOW)])
    await journey.send("Remember that I'm a biologist.")
    await journey.assembled.facts.wait()
    assert (store / "role.md").exists()
    assert extractions(journey) == []


@pytest.mark.parametrize("answer", [True, False, None])
async def test_the_screen_asks_at_the_first_fact(
    begin: Begin, fresh_home: Path, answer: bool | None
) -> None:
    asked: list[bool | None] = []

    async def keep_facts() -> bool | None:
        asked.append(answer)
        return answer

    journey = await begin(respond=respond, keep_facts=keep_facts)
    for prompt in ("List the files.", "Never list them again.", "Always be short."):
        await journey.send(prompt)
        await journey.assembled.facts.wait()
        assert asked == ([] if prompt.startswith("List") else [answer])
    assert len(extractions(journey)) == (2 if answer else 0)
    settings = fresh_home / ".agent" / "settings.json"
    stored = json.loads(settings.read_text()) if settings.exists() else {}
    assert stored.get("autoMemoryEnabled") is answer
    # Taken over at once, so that the watcher has no change to report.
    in_force = journey.assembled.commands.context.settings()
    assert in_force.values.autoMemoryEnabled is answer


async def test_a_cursor_that_is_gone_brings_everything_again(
    begin: Begin, fresh_home: Path
) -> None:
    turned_on(fresh_home)
    first = await begin(respond=respond)
    await first.send("Never say more than needed.")
    await first.assembled.facts.wait()
    session_id = first.conversation.view.session_id
    await first.conversation.aclose()
    [state] = fresh_home.rglob("memory.json")
    assert json.loads(state.read_text())["cursor"]
    state.write_text('{"cursor": "gone", "noted": "gone"}')

    second = await begin(respond=respond, resume=session_id)
    await second.send("Always be brief.")
    await second.assembled.facts.wait()
    count = len(second.conversation.view.messages)
    assert count > 2
    assert f"last {count} messages" in json.dumps(extractions(second)[-1].body)
