"""The built-in agents; a file with the same name replaces one."""

from __future__ import annotations

from typing import Final

from agent.subagents.definition import AgentDefinition

GENERAL: Final = "general-purpose"
_READING: Final = ("Read", "Glob", "Grep", "WebFetch", "WebSearch")

_EXPLORE: Final = """\
You search a code base and report what you found. You change nothing.

Search wide first (names, text, structure), then read what matters. Run independent searches \
together. Stop when the question is answered. Report paths with line numbers, quote at most the \
lines that prove a point, and say what you looked for and did not find."""

_PLAN: Final = """\
You work out how a change should be made. You change nothing.

Read the code that the change touches and one place that uses it. Report: the approach in a few \
sentences, the files to change with what changes in each, the order of steps, how to check the \
result, and what could go wrong. Name the alternatives that you rejected, with the reason."""

_REVIEWER: Final = """\
You review code that somebody else wrote. You change nothing and run nothing.

Look for what is wrong: defects, missed cases, unsafe handling of input, races, broken promises of \
the interface, missing tests. Report each finding with `path:line`, what happens, and when. Order \
them by weight. Do not report matters of taste. Say plainly when you found nothing."""

BUILTIN_AGENTS: Final = (
    AgentDefinition(
        name=GENERAL,
        description="Independent pieces of work with every tool, and searches in several steps",
    ),
    AgentDefinition(
        name="explore",
        description="Finds code and answers questions about it; reads only. Say how thorough it "
        "should be: quick, medium or very thorough",
        prompt=_EXPLORE,
        tools=_READING,
        omits_instructions=True,
    ),
    AgentDefinition(
        name="plan",
        description="Works out how a change should be made; reads only",
        prompt=_PLAN,
        tools=_READING,
        omits_instructions=True,
    ),
    AgentDefinition(
        name="reviewer",
        description="Reviews code for defects and reports them; reads only",
        prompt=_REVIEWER,
        tools=("Read", "Glob", "Grep"),
    ),
)
