"""What lint proposes can be read, and does away with what it is proposed for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from permissions.lint.lint import LintType, LintWarning, lint
from permissions.lint.suggest_fix import suggest_fix
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText

REMOVES = re.compile(r"remove '(.*)'(?:, or narrow the (?:deny|ask) rule '.*')?", re.DOTALL)
WRITES = re.compile(
    r"write (?:one rule for each command: )?(.+?)(?:, or remove the rule| for the absolute path)?",
    re.DOTALL,
)
PLACEHOLDER = re.compile(r"<(?:program|container|command|host|server)>")

PROGRAMS = st.sampled_from(["git", "npm", "npx", "uv run", "docker exec", "watch", "ls", "git:*"])
WORDS = st.sampled_from(["*", "push", "'a b'", '"a && b"', "&&", "|", ";", "x;", "-n", "status"])
COMMANDS = st.builds(
    lambda program, words: " ".join([program, *words]), PROGRAMS, st.lists(WORDS, max_size=4)
)
PATHS = st.sampled_from(["/etc/passwd", "//etc", "src/**", "/src/**", "~/x", "/home/me/**", "../x"])
TEXTS = st.one_of(
    COMMANDS.map(lambda text: f"Bash({text})"),
    COMMANDS.map(lambda text: f"Bash({text}"),
    COMMANDS.map(lambda text: f"bash({text})"),
    PATHS.map(lambda path: f"Read({path})"),
    PATHS.map(lambda path: f"Edit({path})"),
    st.sampled_from(
        ["Bsh(ls)", "Bash()", "WebFetch(example.com)", "WebFetch(https://a.b/c)", "mcp_github",
         "mcp__*", "*", "Bash", "Reed(x)", "Agent(model:opus)", "Bash(command:ls)", "", "()"]
    ),
)  # fmt: skip
RULES = st.lists(
    st.builds(
        RuleText,
        TEXTS,
        st.sampled_from(RuleBehavior),
        st.sampled_from([RuleSource.USER, RuleSource.PROJECT, RuleSource.LOCAL]),
    ),
    max_size=6,
)


def findings(texts: Sequence[RuleText]) -> tuple[LintWarning, ...]:
    return lint(RuleSet.build(texts)[0])


def applied(texts: Sequence[RuleText], warning: LintWarning) -> list[RuleText] | None:
    """Return the rules with the fix in them; None where it is left to the user."""
    removes, writes = REMOVES.fullmatch(warning.fix), WRITES.fullmatch(warning.fix)
    if removes is not None:
        assert removes[1].startswith(str(warning.rule))
        new: list[str] = []
    elif writes is not None and not PLACEHOLDER.search(warning.fix):
        new = re.split(r"(?<=\)), ", writes[1])
    else:
        return None
    found: list[RuleText] = []
    for text in texts:
        is_it = text.text == warning.rule and str(text.source) == warning.source
        found.extend([replace(text, text=one) for one in new] if is_it else [text])
    return found


@given(RULES)
def test_a_fix_can_be_read_and_ends_the_finding(texts: list[RuleText]) -> None:
    for warning in findings(texts):
        fixed = applied(texts, warning)
        if fixed is None:
            continue
        about = [text for text in fixed if text not in texts]
        broken = {LintType.MALFORMED_RULE, LintType.UNKNOWN_TOOL}
        again = findings(fixed)
        assert not [one for one in findings(about) if one.type in broken], warning.fix
        assert (warning.type, warning.rule, warning.source) not in {
            (one.type, one.rule, one.source) for one in again
        }, warning.fix


@given(TEXTS, st.sampled_from(RuleBehavior))
def test_what_is_proposed_never_allows_a_whole_tool(text: str, behavior: RuleBehavior) -> None:
    proposed = suggest_fix(text, behavior)
    if proposed is not None and behavior is RuleBehavior.ALLOW and "(" in text:
        assert "(" in proposed


@pytest.mark.parametrize(
    ("text", "proposed"),
    [
        ("Bash(ls", "Bash(ls)"),
        ("bash(ls)", "Bash(ls)"),
        ("Reed(x)", "Read(x)"),
        ("mcp_github", "mcp__github"),
        ("WebFetch(example.com)", "WebFetch(domain:example.com)"),
        ("WebFetch(https://example.com:8080/a?b)", "WebFetch(domain:example.com)"),
        ("Bash(command:ls)", "Bash(ls)"),
        ("Frobnicate(x)", None),
        ("Bash()", None),
        ("", None),
    ],
)
def test_the_nearest_rule_is_proposed(text: str, proposed: str | None) -> None:
    assert suggest_fix(text, RuleBehavior.ALLOW) == proposed


def test_a_rule_with_operators_becomes_one_for_each_command() -> None:
    (found,) = findings(
        [RuleText("Bash(git add 'a && b' && git commit *)", RuleBehavior.ALLOW, RuleSource.USER)]
    )
    assert found.fix == (
        "write one rule for each command: Bash(git add 'a && b'), Bash(git commit *)"
    )


def test_a_file_rule_with_spaces_around_its_wildcards_is_a_finding() -> None:
    deny = "Read( ** /*token*)"
    (found,) = findings([RuleText(deny, RuleBehavior.DENY, RuleSource.PROJECT)])
    assert (found.type, found.fix) == (LintType.UNREACHABLE, "write Read(**/*token*)")
    assert not findings([RuleText("Read(My Files/**)", RuleBehavior.DENY, RuleSource.PROJECT)])


def test_the_name_of_another_tool_is_not_superfluous() -> None:
    """Claude Code, which reads the same file, needs `Write` beside `Edit`."""

    def texts(*rules: str) -> list[RuleText]:
        return [RuleText(rule, RuleBehavior.ALLOW, RuleSource.USER) for rule in rules]

    assert not findings(texts("Edit", "Write", "MultiEdit", "Read", "Grep", "Glob"))
    assert not findings(texts("Edit", "Write(src/**)"))
    for rules in (("Edit", "Edit(src/**)"), ("mcp__s", "mcp__s__t"), ("Edit(a/**)", "Write(a/b)")):
        (found,) = findings(texts(*rules))
        assert found.fix == f"remove '{rules[1]}'"
