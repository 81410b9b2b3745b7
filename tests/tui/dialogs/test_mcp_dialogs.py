"""Questions about servers, and those of servers: what they show, and what answers become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.mcp.configuration.configured_servers import ConfiguredServer
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.mcp.configuration.tool_pins import ToolChange
from agent.mcp.server_requests import ElicitationRequest
from tui.dialogs.choice_dialog import ChoiceDialog
from tui.dialogs.dialog import AnsweredDialog, AnswerT
from tui.dialogs.mcp.changed_tools import changed_tools
from tui.dialogs.mcp.elicited_form import BadValueError, form_fields, secret_fields
from tui.dialogs.mcp.mcp_dialogs import McpDialogs
from tui.dialogs.mcp.server_approval import is_unpinned, server_approval
from tui.dialogs.mcp.server_questions import url_question
from tui.dialogs.question_step import QuestionStep
from tui.text.styled_rows import plain


def definition(command: str, *args: str) -> ServerDefinition:
    return ServerDefinition(
        name="db",
        transport="stdio",
        scope="project",
        is_foreign=True,
        entry={"command": command, "args": list(args)},
        digest="1",
        command=command,
        args=args,
        file=Path("/p/.mcp.json"),
        line=3,
    )


def body(dialog: Any) -> str:
    return plain(dialog.view(90).body)


async def test_the_approval_shows_all_that_runs() -> None:
    text = body(
        server_approval(ConfiguredServer(definition("npx", "-y", "pkg\x1b"), "needs_approval"))
    )
    assert ".mcp.json:3 wants to start" in text
    assert "npx" in text
    assert "\x1b" not in text
    assert "No version is pinned" in text


async def test_the_approval_names_the_server_that_it_replaces() -> None:
    server = ConfiguredServer(definition("serve"), "needs_approval", replaces_own=True)
    assert "replaces your own server" in " ".join(body(server_approval(server)).split())


async def test_a_changed_definition_is_shown_as_a_change() -> None:
    earlier = {"command": "serve", "args": ["--read"]}
    text = body(
        server_approval(
            ConfiguredServer(definition("serve", "--all"), "needs_approval", "", earlier)
        )
    )
    assert '-     "--read"' in text
    assert '+     "--all"' in text


@pytest.mark.parametrize(
    ("words", "unpinned"),
    [
        (["npx", "-y", "pkg"], True),
        (["npx", "-y", "pkg@1.2.0"], False),
        (["npx", "@scope/pkg"], True),
        (["npx", "@scope/pkg@2"], False),
        (["uvx", "pkg==1"], False),
        (["/usr/bin/uvx", "pkg"], True),
        (["node", "server.js"], False),
    ],
)
def test_a_package_without_a_version_is_named(words: list[str], unpinned: bool) -> None:
    assert is_unpinned(definition(*words)) is unpinned


async def test_a_changed_tool_is_shown_word_by_word() -> None:
    text = body(changed_tools("db", [ToolChange("read", "Reads a file.", "Reads any file.")]))
    assert "read" in text
    assert "- Reads a file." in text
    assert "+ Reads any file." in text


async def test_an_address_is_shown_whole_with_a_warning_for_odd_letters() -> None:
    request = ElicitationRequest(
        server="db", mode="url", message="Please", url="https://xn--pple-43d.example/a?b=c"
    )
    text = body(url_question(request, ""))
    assert "https://xn--pple-43d.example/a?b=c" in text
    assert "look-alike letters" in text


SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "mail": {"type": "string", "format": "email"},
        "level": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "tags": {
            "type": "array",
            "items": {"anyOf": [{"const": "x", "title": "An X"}, {"const": "y"}]},
        },
        "fast": {"type": "boolean"},
        "password": {"type": "string"},
    },
    "required": ["port"],
}


@pytest.mark.parametrize(
    ("name", "answer", "value"),
    [
        ("port", "80", 80),
        ("mail", "a@b.org", "a@b.org"),
        ("mail", "Leave empty", None),
        ("level", "Second", "b"),
        ("tags", "An X, y", ["x", "y"]),
        ("fast", "Yes", True),
        ("fast", "No", False),
    ],
)
def test_answers_become_values(name: str, answer: str, value: object) -> None:
    field = next(one for one in form_fields(SCHEMA) if one.name == name)
    assert field.value(answer) == value


@pytest.mark.parametrize(
    ("name", "answer"),
    [("port", "x"), ("port", "0"), ("mail", "a"), ("level", "Third"), ("tags", "z"), ("fast", "?")],
)
def test_other_answers_are_refused(name: str, answer: str) -> None:
    field = next(one for one in form_fields(SCHEMA) if one.name == name)
    with pytest.raises(BadValueError, match="expected"):
        field.value(answer)


@pytest.mark.parametrize("key", ["title", "description"])
def test_a_secret_is_recognized_by_what_the_user_reads(key: str) -> None:
    field = {"type": "string", key: "Your GitHub personal access token"}
    assert secret_fields(form_fields({"properties": {"note": field}})) == ["note"]


def test_secrets_are_recognized_and_required_fields_have_no_way_out() -> None:
    fields = form_fields(SCHEMA)
    assert secret_fields(fields) == ["password"]
    assert [option.label for option in fields[0].question.options] == []


class Answers:
    """Gives prepared answers to dialogs, and keeps what they showed."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.shown: list[str] = []

    async def show(self, dialog: AnsweredDialog[AnswerT]) -> AnswerT:
        self.shown.append(plain(dialog.view(90).body))
        answer: Any = self.answers.pop(0)
        return answer  # type: ignore[no-any-return]


def asked(properties: Sequence[str]) -> ElicitationRequest:
    known: Any = SCHEMA["properties"]
    schema = {
        "type": "object",
        "properties": {n: known[n] for n in properties},
        "required": ["port"],
    }
    return ElicitationRequest(server="db", mode="form", message="Which port?", schema=schema)


@pytest.mark.parametrize(
    ("field", "labels"),
    [
        ({"type": "string"}, ["Answer"]),
        ({"type": "integer", "default": 3}, ["3", "Other"]),
        ({"type": "string", "enum": ["small", "large"]}, ["small", "large"]),
        ({"type": "boolean"}, ["Yes", "No"]),
    ],
)
def test_a_field_offers_only_answers_that_its_schema_allows(
    field: dict[str, object], labels: list[str]
) -> None:
    [one] = form_fields({"properties": {"size": field}, "required": ["size"]})
    step = QuestionStep(one.question)
    assert [choice.label for choice in step.choices.choices] == labels
    assert step.is_free_answer(len(labels) - 1) is (labels[-1] in ("Answer", "Other"))
    assert step.take(0) is (labels[0] != "Answer")


async def test_a_form_is_asked_again_until_its_values_fit() -> None:
    answers = Answers("accept", {"port": "many"}, "accept", {"port": "80"})
    answer = await McpDialogs(answers.show).elicit(asked(["port"]))
    assert (answer.action, answer.content) == ("accept", {"port": 80})
    assert "port: expected a whole number" in answers.shown[2]


async def test_a_form_can_be_declined_before_anything_is_typed() -> None:
    answers = Answers("decline")
    answer = await McpDialogs(answers.show).elicit(asked(["port", "password"]))
    assert (answer.action, answer.content) == ("decline", None)
    assert "must not ask for secrets" in answers.shown[0]


@pytest.mark.parametrize(
    ("dialog", "safe"),
    [
        (
            lambda: server_approval(ConfiguredServer(definition("serve"), "needs_approval")),
            "Not now",
        ),
        (lambda: changed_tools("db", [ToolChange("read", "Reads.", "Reads all.")]), "No"),
    ],
    ids=["server", "tools"],
)
async def test_enter_alone_trusts_nothing_that_was_not_reviewed(
    dialog: Callable[[], ChoiceDialog[Any]], safe: str
) -> None:
    shown = dialog()
    selected = [line.row.text for line in shown.view(90).footer if line.is_selected]
    assert safe in selected[0]
    shown.press("enter", "", "confirm:yes")
    assert not await shown.wait()
