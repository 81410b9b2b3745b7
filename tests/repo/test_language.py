"""Docstrings, comments and names are in plain technical English.

No docstring or comment contains an idiom of the list, and no name of a function, parameter, field,
attribute or variable is only a participle or a particle.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo.checkout import PACKAGES, ROOT, tracked_files, tracked_texts
from tests.repo.structure import Tree, read_tree

IDIOMS = re.compile(
    r"\bnobody\b|\bwhoever\b|\bgo(?:es)? on\b|\b(?:is|are|was|were) told\b"
    r"|(?<!there )\b(?-i:is|are) no\b(?! longer| more)",
    re.IGNORECASE,
)

BRITISH = re.compile(
    r"(?:--)?colour|favour|behaviour|neighbour|honour|(?:anal|paral)yse\b|spelt|learnt|fulfil\b"
    r"|(?:dial|label|signal|travel|model)l(?:ed|ing)"
    r"|(?:initial|minim|maxim|normal|optim|organ|recogn|serial|summar|synchron|token|virtual)is(?!m)\w*"
)
"""Non-American spellings, for lower-case text: ignoring case would take three times as long."""
BRITISH_WORDS_OF_USERS = frozenset({"summarise", "--colour"})
"""Words that users of other programs type."""

DEFINED = re.compile(r"\bdef\s+(\w+)")
"""A quick search for function names, to select the modules that must be parsed."""

PARTICLES = frozenset(
    """
    able about after again around at away back before begun behind below beside bought bound brought
    built by caught done down for forth found from gone got given heard held here hung in into kept
    known laid led left lost made meant near off on once out over paid said seen sent shot shown
    since sold spoken struck swept taken taught there till to told under understood until up upon
    with woken won worn written
    """.split()
)
"""Participles without -ed, and particles, except those that are also verbs, such as `read`."""

VERBS_IN_ED = frozenset(
    {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "sed", "speed"}
)

EXCUSED = {
    ("agent/abort.py", "aborted"): "the property of the Web's AbortSignal",
    ("permissions/resolve/race.py", "aborted"): "the property of the Web's AbortSignal",
    ("tui/editing/text_buffer.py", "left"): "the direction, beside `right`",
    ("tui/editing/vim/motions.py", "_left"): "the direction, beside `_right`",
}


EXCUSED_VALUES = {
    # Directions and places on the screen, like `right`, `front`, `top`.
    "left": """tui/panels/help.py tui/prompt/prompt_rows.py tui/screen/cell_diff.py
        tui/screen/encode.py tui/text/wrap.py tui/transcript/diff/split_rows.py
        tui/transcript/markdown/markdown_table.py tui/transcript/position_rows.py
        tui/transcript/selecting/transcript_marker.py""",
    "back": "tui/screen/cell_frame.py tui/screen/direct_rows.py tui/screen/sixel_layer.py",
    # The color.
    "red": """agent/status_line/ansi_text.py tui/screen/sixel_layer.py tui/terminal/background.py
        tui/theme/theme_palette.py""",
    # Keys of stored files, settings, messages and scenarios.
    "approved": "agent/library/context/run_context.py",
    "rejected": "agent/library/context/run_context.py",
    "redacted": "agent/session/records.py",
    "kept": "agent/session/records.py",
    "stopped": "agent/session/background_runs.py",
    "modified": "agent/session/store.py agent/session/archive/summaries.py",
    "damaged": "agent/session/repair.py",
    "dropped": "agent/orchestration/run/fan_out.py",
    "counted": "agent/teams/team_file.py",
    "written": "agent/mcp/configuration/consent_store.py",
    "disabled": """agent/mcp/configuration/consent_store.py agent/library/tracing/run_spans.py
        agent/settings/sections/sandbox_section.py""",
    "enabled": """agent/sandbox/configuration/sandbox_settings.py agent/settings/schema.py
        agent/settings/sections/sandbox_section.py""",
    "to": """agent/session/team_records.py agent/teams/team_message.py agent/teams/team_tools.py
        agent/tools/agent_port.py agent/tools/builtin/send_message.py""",
    "at": "agent/model/scripted/faults.py",
    "after": "agent/model/scripted/scenario.py",
    "served": "agent/model/scripted/scenario.py",
    # Parameters of the Agents SDK.
    "triggered": "agent/library/tracing/run_spans.py",
}
"""Parameters, fields, attributes and variables that are permitted, with their modules."""


def remarks(source: str) -> Iterator[tuple[int, str]]:
    """Yield each docstring and comment with its line; other strings are not included."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def idioms_in(source: str) -> list[str]:
    """Return each idiom with the first line of its docstring or comment."""
    if IDIOMS.search(source) is None:
        return []
    return [
        f"{line}: {match[0]}" for line, text in remarks(source) for match in IDIOMS.finditer(text)
    ]


def _found(paths: Iterator[Path]) -> list[str]:
    texts = tracked_texts()
    return [f"{path}:{one}" for path in paths for one in idioms_in(texts[path])]


def lone_participles(source: str) -> list[str]:
    """Return the names of functions and methods that are only a participle or particle."""
    if not any(_is_participle(name.strip("_")) for name in DEFINED.findall(source)):
        return []
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _is_participle(node.name.strip("_"))
    ]


def _is_participle(name: str) -> bool:
    return name in PARTICLES or (
        re.fullmatch(r"[a-z]+ed", name) is not None and name not in VERBS_IN_ED
    )


def _product() -> list[Path]:
    return [one for one in tracked_files() if one.suffix == ".py" and one.parts[0] in PACKAGES]


def test_the_product_has_none() -> None:
    assert _found(iter(_product())) == []


def test_words_have_their_american_spelling() -> None:
    texts = tracked_texts()
    pages = [path for path in texts if path.suffix == ".md" and path.name != "strings.md"]
    everything = (texts[path].lower() for path in (*_product(), *pages))
    found = {word for text in everything for word in BRITISH.findall(text)}
    assert found == BRITISH_WORDS_OF_USERS


def test_functions_are_named_by_verbs_and_nouns() -> None:
    texts = tracked_texts()
    found = {(str(path), name) for path in _product() for name in lone_participles(texts[path])}
    assert found == set(EXCUSED), "rename it, or remove an excuse that nothing needs"


def test_values_are_named_by_nouns() -> None:
    names = {
        (path, name)
        for path, name in read_tree(ROOT).bound_names
        if _is_participle(name.strip("_"))
    }
    excused = {(path, name) for name, paths in EXCUSED_VALUES.items() for path in paths.split()}
    assert names == excused, "rename it, or remove an excuse that nothing needs"


@pytest.mark.parametrize(
    "source",
    [
        "def read(*, found): ...",
        "wanted = 1",
        "self._at = 1",
        "class One:\n    kept: int",
        "for before, one in (): ...",
        "match 1:\n    case int(given): ...",
        "def f(*told): ...",
        "x = [y for known in ()]",
    ],
)
def test_each_way_to_bind_a_name_counts(source: str) -> None:
    names = Tree({"one.py": source}).bound_names
    assert [name for _, name in names if _is_participle(name.strip("_"))]


@pytest.mark.parametrize(
    ("name", "is_counted"),
    [
        ("_joined", True),
        ("told", True),
        ("_at", True),
        ("_join_words", False),
        ("read_loaded", False),
        ("feed", False),
        ("_read", False),
        ("is_able", False),
    ],
)
def test_which_names_count(name: str, is_counted: bool) -> None:
    source = f"class Reader:\n    async def {name}(self) -> None: ...\n"
    assert lone_participles(source) == ([name] if is_counted else [])


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('"""Nobody waits."""', 1),
        ("x = 1  # whoever asked goes on", 2),
        ('"""The text is no rule; there is no rule; there are no more."""', 1),
        ('"""It is no longer there. There is no file."""', 0),
        ('print("nobody goes on")', 0),
        ("def f():\n    '''It is told.\n\n    Go on.'''", 2),
    ],
)
def test_what_counts(source: str, count: int) -> None:
    assert len(idioms_in(source)) == count
