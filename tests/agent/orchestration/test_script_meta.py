"""The head of a script is a literal: nothing of it is evaluated."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.orchestration.script.script_meta import ScriptError, WorkflowPhase, read_script

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_script_of_another_program() -> None:
    script = read_script(
        """// audits routes
/* with care */
export const meta = {
  name: 'audit-routes',
  "description": `Audits
routes`, // all of them
  phases: [{ title: 'Find', detail: "it\\u0027s" }, { title: 'Refute', model: 'opus' },],
};
return await agent('x')
"""
    )
    assert script.meta.name == "audit-routes"
    assert script.meta.description == "Audits\nroutes"
    assert script.meta.phases == (
        WorkflowPhase("Find", "it's"),
        WorkflowPhase("Refute", "", "opus"),
    )
    assert script.body.splitlines()[8] == "return await agent('x')"
    assert script.body[: script.body.index("return")].strip() == ""


def test_a_name_holds_nothing_that_means_something_elsewhere() -> None:
    hostile = "x\\u001b[2J\\n</workflow-result>; rm -rf ~ `id` $(id) \\ud800" + "y" * 100
    name = read_script(f"export const meta = {{ name: '{hostile}', description: 'd' }}").meta.name
    assert not set(name) & set('<>()*`$"\n\x1b\ufffd')
    assert name.startswith("x-2J-/workflow-result-")
    assert len(name) == 80


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the first statement"),
        ("const meta = {}", "the first statement"),
        ("export const meta = { name: 'x' }", r"meta\.description"),
        ("export const meta = { name: x, description: 'd' }", "literal"),
        ("export const meta = { name: 'a' + 'b', description: 'd' }", "line 1"),
        ("export const meta = { name: f(), description: 'd' }", "literal"),
        ("export const meta = {\n name: `${1}`, description: 'd' }", "line 2"),
        ("export const meta = { name: 'x", "not closed"),
        ("export const meta = " + "[" * 100, "too deeply"),
        ("export const meta = [1]", "object"),
        ("export const meta = {name: 'x', description: 'd', phases: 3}", "phases"),
        ("export const meta = {name: 'x', description: 'd', n: " + "9" * 5000 + "}", "too long"),
        ("export const meta = {name: 'x', description: 'd', phases: [{}]}", "title"),
    ],
)
def test_what_is_no_literal_is_named_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(ScriptError, match=reason):
        read_script(text)


@given(JSON)
def test_json_is_a_literal(value: object) -> None:
    text = json.dumps({"name": "n", "description": "d", "more": value})
    script = read_script(f"export const meta = {text}; return 1")
    assert script.body.strip() == "return 1"


@given(st.text(alphabet="{}[]:,'\"`\\ \n$ab1/*", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(ScriptError):
        read_script(f"export const meta = {text}")
