"""One rule covers another only when every call of the other one is covered."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from permissions.lint.lint import LintType, lint
from permissions.lint.subsume import coverage_key, finds_inside, subsumes
from permissions.matching.match_domain import matches_host
from permissions.paths.path_pattern import PathPattern, compiled_pattern
from permissions.rule import Rule, RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.rules.grammar import DomainPattern

NAMES = st.text("abc", min_size=1, max_size=3)
WILD_NAMES = st.one_of(
    NAMES,
    st.lists(
        st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[a-c]", "\\*"]),
        min_size=1,
        max_size=3,
    ).map("".join),
)
PATTERNS = st.lists(st.one_of(WILD_NAMES, st.just("**")), min_size=1, max_size=3).map("/".join)
PATHS = st.lists(st.text("abcd*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
LABELS = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "a*b"])
HOSTS = st.lists(LABELS, min_size=1, max_size=3).map(lambda labels: ".".join([*labels, "com"]))
ADDRESSES = st.lists(st.sampled_from(["a", "b", "ab", "aab", "c"]), min_size=1, max_size=4).map(
    lambda labels: ".".join([*labels, "com"])
)


def pair(wider: str, narrower: str) -> tuple[Rule, Rule]:
    """Return a deny rule and an allow rule."""
    texts = [
        RuleText(wider, RuleBehavior.DENY, RuleSource.USER),
        RuleText(narrower, RuleBehavior.ALLOW, RuleSource.USER),
    ]
    rules = RuleSet.build(texts)[0].rules
    assert len(rules) == 2
    return (rules[0], rules[1]) if rules[0].behavior is RuleBehavior.DENY else (rules[1], rules[0])


@given(PATTERNS, PATTERNS, st.lists(PATHS, min_size=5, max_size=20))
def test_a_covered_path_rule_matches_nothing_else(wide: str, narrow: str, paths: list[str]) -> None:
    wider, narrower = pair(f"Edit(//{wide})", f"Edit(//{narrow})")
    whole, part = wider.specifier, narrower.specifier
    assert isinstance(whole, PathPattern)
    assert isinstance(part, PathPattern)
    fits = part.granting
    if narrow.endswith("/**") and narrow.strip("*/"):
        # `dir/**` fits the folder as well, which is not what it is written for.
        fits = compiled_pattern(f"{narrow}/**", False)
    if subsumes(wider, narrower):
        for path in paths:
            assert not fits.fullmatch(path) or whole.restricting.fullmatch(path)


@given(HOSTS, HOSTS, st.lists(ADDRESSES, min_size=5, max_size=20))
def test_a_covered_host_rule_matches_nothing_else(wide: str, narrow: str, hosts: list[str]) -> None:
    wider, narrower = pair(f"WebFetch(domain:{wide})", f"WebFetch(domain:{narrow})")
    whole, part = wider.specifier, narrower.specifier
    assert isinstance(whole, DomainPattern)
    assert isinstance(part, DomainPattern)
    if subsumes(wider, narrower):
        for host in hosts:
            assert not matches_host(part, host) or matches_host(whole, host)


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        ("WebFetch(domain:api-*.a.com)", "WebFetch(domain:api-1.a.com)", True),
        ("WebFetch(domain:api-*.a.com)", "WebFetch(domain:api-1*.a.com)", True),
        ("WebFetch(domain:api-*.a.com)", "WebFetch(domain:api-1.b.a.com)", False),
        ("WebFetch(domain:api-*.a.com)", "WebFetch(domain:*.a.com)", False),
        ("WebFetch(domain:*.a*.com)", "WebFetch(domain:x.ab.com)", True),
        ("WebFetch(domain:*.com)", "WebFetch(domain:api-*.a.com)", True),
        ("WebFetch(domain:*.b.a.com)", "WebFetch(domain:*.a.com)", False),
        ("Edit(?.py)", "Edit(*.py)", False),
        ("Edit(?.py)", "Edit(a.py)", True),
        ("Edit(?*)", "Edit(*)", True),
        ("Edit(*.[ch])", "Edit(*.[ch])", True),
        ("Edit(*.[a-z])", "Edit(*.[ch])", False),
        ("Edit(*.[ch])", "Edit(*.[a-z])", False),
        ("Edit(*.[ch])", "Edit(a.c)", True),
        ("Edit(*.c)", "Edit(*.[ch])", False),
        ("Edit([!a]*)", "Edit(*)", False),
        ("Edit(*.[!c])", "Edit(*.*)", False),
        ("Edit(*[ac][cd]*)", "Edit([ab]c[de])", False),
        ("Edit(*[abc][cd]*)", "Edit([ab]c[de])", False),
        ("Edit([z-a]*)", "Edit(*)", False),
        ("Edit(\\*)", "Edit(*)", False),
        ("Edit(*/*)", "Edit(//a/**)", False),
        ("Edit(src/*)", "Edit(src/**)", True),
        ("Edit(src/?*)", "Edit(src/**)", True),
        ("Edit(src/??*)", "Edit(src/**)", False),
        ("Edit(//*/*)", "Edit(//a**)", False),
        ("Edit(**/*.test.*)", "Edit(packages/*/src/**/*.test.[jt]sx)", False),
        ("Edit(**/*.test.*)", "Edit(packages/*/src/**/*.test.ts)", True),
        ("Edit(**)", "Edit", True),
        ("Read(**)", "Grep", True),
        ("Edit(//**)", "Edit(src/**)", True),
        ("Edit(//**)", "Edit(~/x)", True),
        ("Edit(src/**)", "Edit", False),
    ],
)
def test_wildcards_of_names_are_distinguished(wide: str, narrow: str, is_covered: bool) -> None:
    assert subsumes(*pair(wide, narrow)) is is_covered


@pytest.mark.parametrize(
    ("wide", "narrow", "is_covered"),
    [
        ("Bash(find *)", "Bash(find . -name x)", True),
        ("Bash(find *)", "Bash(find . -exec rm {} +)", False),
        ("Bash(find *)", "Bash(find . -exec rm *.o {} +)", False),
        ("Bash(git *)", "Bash(git -c core.pager=less log)", False),
        ("Bash(git *)", "Bash(git log *)", True),
        ("Bash(git *)", "Bash(git log*)", True),
        ("Bash", "Bash(find . -exec rm {} +)", True),
        ("Bash(*)", "Bash(find . -exec rm {} +)", True),
    ],
)
def test_what_only_a_rule_to_the_letter_allows_is_not_covered(
    wide: str, narrow: str, is_covered: bool
) -> None:
    wider, narrower = (
        RuleSet.build([RuleText(text, RuleBehavior.ALLOW, RuleSource.USER)])[0].rules[0]
        for text in (wide, narrow)
    )
    assert subsumes(wider, narrower) is is_covered


WORDS = st.sampled_from(["git", "push", "*", "-f", "sudo", "x*", "'a b'", "/bin/git", "bash", "-c"])
ANCHORS = st.sampled_from(["", "/", "//", "~/", "./"])
RULES = st.one_of(
    st.lists(WORDS, min_size=1, max_size=3).map(lambda words: f"Bash({' '.join(words)})"),
    st.builds("{}({}{})".format, st.sampled_from(["Edit", "Read", "Write"]), ANCHORS, PATTERNS),
    st.sampled_from(["Bash", "Bash(**)", "Edit", "Read", "Edit(**)", "WebFetch(domain:*.com)"]),
)
SOURCES = st.sampled_from(list(RuleSource))


@given(RULES, st.sampled_from(list(RuleBehavior)), SOURCES, RULES, SOURCES)
def test_no_rule_is_covered_but_by_its_kin(
    wide: str, behavior: RuleBehavior, source: RuleSource, narrow: str, other: RuleSource
) -> None:
    built = [
        RuleSet.build([RuleText(*each)])[0].rules
        for each in ((wide, behavior, source), (narrow, RuleBehavior.ALLOW, other))
    ]
    if not all(built):
        return
    (wider, *_), (narrower, *_) = built
    if subsumes(wider, narrower) and not finds_inside(wider, narrower):
        key, narrower_key = coverage_key(wider), coverage_key(narrower)
        assert key is None or (narrower_key is not None and narrower_key.startswith(key))


def test_two_patterns_of_many_wildcards_are_given_up_on() -> None:
    wide, narrow = "/".join(["**/*[!a]*b*"] * 12), "/".join(["**/*?[!b]*c*"] * 12)
    assert not subsumes(*pair(f"Edit({wide})", f"Edit({narrow})"))


@pytest.mark.parametrize(
    "command",
    ["npx *", "npx -y *", "direnv exec . *", "mise exec -- *", "docker exec -it *", "sudo -E *"],
)
def test_a_runner_with_nothing_but_options_runs_any_program(command: str) -> None:
    texts = [RuleText(f"Bash({command})", RuleBehavior.ALLOW, RuleSource.USER)]
    (found,) = lint(RuleSet.build(texts)[0])
    assert found.type is LintType.RUNNER_WILDCARD
    # The proposal keeps what was written: only the program is missing from it.
    kept = re.escape(command.removesuffix(" *"))
    assert re.fullmatch(rf"name the program, as in Bash\({kept} (<\w+> )+\*\)", found.fix)


@pytest.mark.parametrize(
    "command",
    ["bash -n *", "npx prettier *", "npx -y prettier *", "docker ps *", "direnv exec . make *"],
)
def test_a_runner_with_its_program_is_an_ordinary_rule(command: str) -> None:
    texts = [RuleText(f"Bash({command})", RuleBehavior.ALLOW, RuleSource.USER)]
    assert lint(RuleSet.build(texts)[0]) == ()


@pytest.mark.parametrize(
    ("wider", "narrower", "is_covered"),
    [
        ("Skill(my:*)", "Skill(my)", True),
        ("Skill(my:*)", "Skill(my:deploy)", True),
        ("Skill(my:*)", "Skill(my:deploy *)", True),
        ("Skill(my:*)", "Skill(my:deploy:*)", True),
        ("Skill(my:*)", "Skill(my *)", True),
        ("Skill(my *)", "Skill(my:*)", False),
        ("Skill(my:deploy)", "Skill(my:*)", False),
        ("Skill(my:*)", "Skill(mine)", False),
        ("Skill(*)", "Skill(my:*)", True),
        ("Skill(m*)", "Skill(my:*)", True),
    ],
)
def test_groups_of_names(wider: str, narrower: str, is_covered: bool) -> None:
    assert subsumes(*pair(wider, narrower)) is is_covered
