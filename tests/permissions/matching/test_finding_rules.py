"""Rules are found by what a call must hold; none is lost on the way."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from permissions.evaluate.cascade import decide
from permissions.matching.match_tool import Anchors, RuleSubject, first_match, rule_matches
from permissions.paths.file_view import RealFiles
from permissions.paths.match_path import LastNames
from permissions.paths.path_pattern import Anchor, PathPattern, compiled_pattern
from permissions.paths.resolve import resolve
from permissions.request import PermissionRequest
from permissions.rule import Rule, RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.shell.command_pattern import WORD_END, bash_pattern
from tests.examples import examples
from tests.permissions.engine import Engine

THOROUGH = settings(
    max_examples=examples(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
NAMES = st.sampled_from(["a", "b", "src", "x.py", "y.py", ".env", "a.b.c", "e.", "..", ".", ""])
PATHS = st.lists(NAMES, min_size=1, max_size=5).map("/".join)
PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            "src",
            "x.py",
            ".env",
            "*.py",
            "*.",
            "x.*",
            "*",
            "**",
            "?",
            "[ab]",
            "a*b",
            "..",
        ),
        *(".", "", "*.b.c", "\\*", "e.", "*e*"),
    ]
)
PATTERNS = st.builds(
    "{}{}".format,
    st.sampled_from(["", "/", "//", "~/", "./", "**/"]),
    st.lists(PIECES, min_size=1, max_size=4).map("/".join),
)
SOURCES = st.sampled_from(list(RuleSource))
BEHAVIORS = st.sampled_from(list(RuleBehavior))
RULES = st.lists(
    st.builds(
        RuleText, st.one_of(PATTERNS.map("Edit({})".format), st.just("Edit")), BEHAVIORS, SOURCES
    ),
    max_size=30,
)


@THOROUGH
@given(texts=RULES, path=PATHS, behavior=BEHAVIORS, takes_tree=st.booleans())
def test_the_rule_about_a_path_is_the_first_of_all_that_match(
    engine: Engine, texts: list[RuleText], path: str, behavior: RuleBehavior, takes_tree: bool
) -> None:
    context = engine.context(texts=texts)
    target = resolve(path or ".", base=str(engine.root), home=str(engine.home), files=context.files)
    anchors = Anchors(context, str(engine.root / "src"))
    call = RuleSubject("Edit", {}, target, takes_tree=takes_tree)
    matching = [
        rule
        for rule in context.rules.rules
        if rule.behavior is behavior and rule_matches(rule, call, anchors)
    ]
    assert first_match(context.rules, behavior, call, anchors) == next(iter(matching), None)


@THOROUGH
@given(st.lists(PATTERNS, max_size=12), PIECES)
def test_the_first_pattern_that_shares_a_name_is_found(texts: list[str], name: str) -> None:
    patterns = [PathPattern(Anchor.CURRENT, text.lstrip("/~")) for text in texts]
    alone = [LastNames([pattern]).first_shared(name) is not None for pattern in patterns]
    first = next((place for place, is_shared in enumerate(alone) if is_shared), None)
    assert LastNames(patterns).first_shared(name) == first


@THOROUGH
@given(
    st.lists(st.sampled_from(["*", " ", "a", "ab", "'a b'", '"', "\\*", "-x", ":*"]), max_size=8),
    st.lists(
        st.sampled_from(["a", "ab", "a b", "*", "-x", "aab", "", ":"]), min_size=1, max_size=6
    ),
)
def test_what_fits_a_command_pattern_holds_its_needle(pieces: list[str], words: list[str]) -> None:
    pattern = bash_pattern("".join(pieces))
    spaced = " ".join(words)
    if pattern.matches(WORD_END.join(words)) or pattern.matches_spaced(spaced):
        assert pattern.needle in spaced


HOSTILE = {
    "stars in a name": ("*a*a*a*a*a*a*a*a*b", "a" * 250),
    "stars and question marks": ("?*?*?*?*?*?*b", "a" * 250),
    "names at any depth": ("**/a/**/a/**/a/**/a/**/a/**/b", "a/" * 500 + "c"),
    "any names at any depth": ("**/*/**/*/**/*/**/*/**/b", "a/" * 500 + "c"),
    "stars at any depth": ("**/*a/**/*a*a*a/**/*a*a*b", ("a" * 60 + "/") * 60 + "c"),
}


@pytest.mark.parametrize(("pattern", "path"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_pattern_costs_no_more_than_the_path_is_long(pattern: str, path: str) -> None:
    # Tried in every way, each of these takes longer than the universe is old.
    compiled = compiled_pattern(pattern, False)
    assert compiled.fullmatch(path) is None
    name = pattern.rpartition("/")[2].translate({ord("*"): "", ord("?"): "a"})
    ending = f"/{name}" if "/" in pattern else "b"
    assert compiled.fullmatch(path + ending) is not None


TARGETS = ("up", "loop", "out", "in", "gone")
LINKS = {"up": "..", "loop": "loop", "src/out": "/etc", "src/in": "../a", "gone": "/nowhere/x"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("tree")))
    (root / "src").mkdir()
    (root / "a").mkdir()
    (root / "file").touch()
    for name, target in LINKS.items():
        (root / name).symlink_to(target)
    return root


@THOROUGH
@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    "src",
                    "a",
                    "file",
                    "up",
                    "loop",
                    "out",
                    "in",
                    "gone",
                    "new",
                    "..",
                    ".",
                    "",
                    "x" * 300,
                ]
            ),
            max_size=6,
        ).map("/".join),
        min_size=1,
        max_size=6,
    )
)
def test_a_path_leads_where_it_leads_without_what_was_seen_before(
    tree: Path, paths: list[str]
) -> None:
    files, once = RealFiles(), RealFiles().for_one_decision()
    for path in paths:
        absolute = f"{tree}/{path}"
        found = once.realpath(absolute)
        assert found == files.realpath(absolute)
        if found is not None:
            assert found == os.path.realpath(absolute)


def test_a_decision_looks_at_each_name_once(
    own_engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = own_engine
    (engine.root / "src" / "deep").mkdir(parents=True, exist_ok=True)
    seen: Counter[str] = Counter()
    look = os.lstat

    def counting(path: str) -> os.stat_result:
        seen[path] += 1
        return look(path)

    context = engine.context(
        deny=[f"Edit(/src/{number}/**)" for number in range(20)], allow=["Read(~/notes/**)"]
    )
    monkeypatch.setattr(os, "lstat", counting)
    command = "cd src && cp deep/a deep/b && mv deep/b c && cat < c > d && rm -r deep && ls deep"
    decide(PermissionRequest("Bash", {"command": command}), context)
    assert seen
    assert set(seen.values()) == {1}


def test_a_rule_set_knows_its_rules_by_behavior() -> None:
    texts = [RuleText("Read(**/a)", behavior, RuleSource.USER) for behavior in RuleBehavior]
    rules = RuleSet.build(texts)[0]
    found: list[Rule] = [rules.index(one).file_rules[0] for one in RuleBehavior]
    assert [rule.behavior for rule in found] == list(RuleBehavior)
