"""What one session finds is there in the next one; only where the user turned it on."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from agent.events import Compacted
from agent.model.scripted.faults import Status
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    Turn,
    When,
)
from tests.journeys.conftest import Begin, Journey, terminal

FACT = {"op": "save", "type": "feedback", "name": "esperanto", "text": "Commits in Esperanto."}
NOTES = {"op": "notes", "text": "NOTED: the person wants commits in Esperanto."}
ANSWER = Turn((Text(f"{json.dumps(FACT)}\n{json.dumps(NOTES)}"),))


def asks(request: RecordedRequest) -> bool:
    return "worth keeping" in json.dumps(request.body["messages"][-1:])


def respond(request: RecordedRequest) -> Turn | None:
    return ANSWER if asks(request) else Turn((Text("Working. " + "word " * 1_000),))


def turned_on(home: Path) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text('{"autoMemoryEnabled": true}')


def extractions(journey: Journey) -> list[RecordedRequest]:
    return [r for r in journey.server.requests if "messages" in r.body and asks(r)]


async def test_a_fact_is_told_to_the_next_session(begin: Begin, fresh_home: Path) -> None:
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
    assert compacted[0].summary == NOTES["text"]
    asked = json.dumps([r.body["messages"][-1] for r in journey.server.requests if r.body])
    assert "about to be compacted" not in asked
    assert "NOTED" in journey.conversation.view.messages[0].text
