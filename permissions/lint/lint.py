"""Finds rules that do not do what they look like: shadowed, dead, malformed, wrongly anchored.

Runs when rules are written and when they are loaded, never while deciding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.decision import DecisionWarning, WarningType, source_name
from permissions.lint.examples import failed_examples
from permissions.lint.subsume import coverage_key, finds_inside, subsumes
from permissions.lint.suggest_fix import suggest_fix
from permissions.matching.effective_rules import RUNNER_PREFIXES, RUNNERS
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.rules.grammar import RuleBehavior, ToolPattern
from permissions.rules.rule_set import Rule, RuleSet, RuleSource, RuleText
from permissions.shell.analyze import analyze
from permissions.shell.command_pattern import BashPattern
from permissions.shell.programs.registry import LOOKED_THROUGH, program_named
from permissions.shell.syntax import Unparsable
from permissions.tool_names import EDIT_TOOLS, KNOWN_TOOLS


class LintType(StrEnum):
    """What is wrong with a rule."""

    DENY_SHADOW = "deny_shadow"
    ASK_SHADOW = "ask_shadow"
    MALFORMED_RULE = "malformed_rule"
    UNKNOWN_TOOL = "unknown_tool"
    DUPLICATE = "duplicate"
    UNREACHABLE = "unreachable"
    WRONG_ANCHOR = "wrong_anchor"
    RUNNER_WILDCARD = "runner_wildcard"
    ONE_TOOL_ONLY = "one_tool_only"
    FAILED_EXAMPLE = "failed_example"


class LintWarning(Struct, frozen=True):
    """One finding, with what to do about it."""

    type: LintType
    rule: str | None
    """The rule that the finding is about, as written."""
    shadower: str | None
    """The rule that takes precedence; None when the finding is about one rule alone."""
    source: str
    shadower_source: str | None
    message: str
    fix: str
    file: str | None = None
    line: int | None = None

    @property
    def notice_text(self) -> str:
        """The finding and what to do about it, as one line."""
        end = "" if self.message.endswith("?") else "."
        return f"{self.message}{end} To fix it: {self.fix}."

    def as_json(self) -> dict[str, object]:
        """Return the JSON form of `permissions lint --jsonl`."""
        return {
            "type": str(self.type),
            "shadowed": self.rule,
            "shadower": self.shadower,
            "source": self.source,
            "shadower_source": self.shadower_source,
            "message": self.message,
            "fix": self.fix,
        }


_RESTRICTING = {
    RuleBehavior.DENY: (LintType.DENY_SHADOW, "denies"),
    RuleBehavior.ASK: (LintType.ASK_SHADOW, "asks"),
}
_PERSONAL = frozenset({RuleSource.USER, RuleSource.LOCAL})
_ROOTS = ("Users", "home", "etc", "tmp", "var", "usr", "opt", "private", "root", "mnt", "Volumes")
_QUOTED = compile_late(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.""", re.DOTALL)
"""Quoted or escaped text, in which an operator separates nothing."""
_OWN_WORD = compile_late(r"-.*|[\d.]+[smhd]?")
"""An option or a duration, not a program."""
_NO_PROGRAM = compile_late(r"-(?!n$).*|\.")
"""An option of a runner (`bash -n` runs nothing), or the directory that `direnv exec` is given."""
_WORD = compile_late(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+""", re.DOTALL)
_OPERATORS = frozenset({"&&", "||", "|", ";", "&", "|&"})
_MORE_RUNNERS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "sh -c", "bash -c", "zsh -c", "docker exec", "npm exec"}
)


def lint(rules: RuleSet, *, sandbox_auto_allow: bool = False) -> tuple[LintWarning, ...]:
    """Return the findings about a whole set: malformed rules first, then in order of the rules."""
    results = [_from_warning(warning, rules) for warning in rules.warnings]
    shadows = shadowed_rules(rules, sandbox_auto_allow=sandbox_auto_allow)
    hidden = {(warning.rule, warning.source) for warning in shadows}
    results.extend(shadows)
    earlier_rules: list[tuple[Rule, str | None]] = []
    for rule in rules.rules:
        if rule.is_cap:
            continue
        results.extend(_about_one(rule))
        results.extend(_about_one_tool(rule, rules))
        # Only an allow rule is reported as superfluous: a second deny or ask does no harm.
        if rule.behavior is RuleBehavior.ALLOW and (rule.text, str(rule.source)) not in hidden:
            rule_key = coverage_key(rule)
            results.extend(
                _duplicates(
                    rule,
                    [other for other, key in earlier_rules if _either_may_cover(rule_key, key)],
                )
            )
            earlier_rules.append((rule, rule_key))
    return tuple(results)


def lint_new(
    rules: RuleSet, new_rules: Iterable[RuleText], *, sandbox_auto_allow: bool = False
) -> tuple[LintWarning, ...]:
    """Return the findings that storing `new_rules` would cause; run before they are written."""
    texts = {(entry.text, str(entry.source)) for entry in new_rules}
    all_rules = RuleSet.build((*rules.texts, *new_rules))[0]
    return tuple(
        warning
        for warning in lint(all_rules, sandbox_auto_allow=sandbox_auto_allow)
        if (warning.rule, warning.source) in texts
        or (warning.shadower, warning.shadower_source) in texts
    )


def shadowed_rules(rules: RuleSet, *, sandbox_auto_allow: bool = False) -> list[LintWarning]:
    """Return one finding per allow rule and deny or ask rule that always comes before it."""
    restricting = [
        (rule, coverage_key(rule))
        for rule in rules.rules
        if rule.behavior in _RESTRICTING and not rule.is_cap
    ]
    results: dict[tuple[str, str, str, str, str], LintWarning] = {}
    for allow_rule in rules.rules:
        if allow_rule.behavior is not RuleBehavior.ALLOW:
            continue
        allow_key = coverage_key(allow_rule)
        for wider, wider_key in restricting:
            if not _may_cover(wider_key, allow_key) and not finds_inside(wider, allow_rule):
                continue
            if _is_lifted(wider, allow_rule, sandbox_auto_allow) or not subsumes(wider, allow_rule):
                continue
            warning = _shadow(wider, allow_rule)
            key = (
                warning.type,
                allow_rule.text,
                str(allow_rule.source),
                wider.text,
                str(wider.source),
            )
            results.setdefault(key, warning)
    return list(results.values())


def _may_cover(wider: str | None, narrower: str | None) -> bool:
    """Whether a rule with the first `coverage_key` may cover one with the second; avoids the exact
    check of most pairs."""
    return wider is None or (narrower is not None and narrower.startswith(wider))


def _either_may_cover(one: str | None, other: str | None) -> bool:
    return _may_cover(one, other) or _may_cover(other, one)


def shadow_warnings(rules: RuleSet) -> tuple[DecisionWarning, ...]:
    """Return shadowed rules as warnings of a decision."""
    return tuple(
        DecisionWarning(WarningType.SHADOWED_RULE, warning.source, warning.rule, warning.message)
        for warning in shadowed_rules(rules)
    )


def _is_lifted(wider: Rule, allow_rule: Rule, sandbox_auto_allow: bool) -> bool:
    """Whether the sandbox allows the call before this ask rule is reached."""
    return (
        sandbox_auto_allow
        and wider.behavior is RuleBehavior.ASK
        and wider.is_tool_wide
        and wider.tool.text == "Bash"
        and wider.source in _PERSONAL
        and allow_rule.tool.text == "Bash"
    )


def _rule_name(rule: Rule) -> str:
    return f"'{rule.text}' ({source_name(rule.source)})"


def _shadow(wider: Rule, allow_rule: Rule) -> LintWarning:
    kind, verb = _RESTRICTING[wider.behavior]
    return LintWarning(
        kind,
        allow_rule.text,
        wider.text,
        str(allow_rule.source),
        str(wider.source),
        f"{_rule_name(wider)} {verb} before {_rule_name(allow_rule)} is reached",
        f"remove '{allow_rule.text}', or narrow the {wider.behavior} rule '{wider.text}'",
        allow_rule.file,
        allow_rule.line,
    )


def _from_warning(warning: DecisionWarning, rules: RuleSet) -> LintWarning:
    is_unknown = warning.type is WarningType.UNKNOWN_TOOL
    rule_text = next(
        (
            text
            for text in rules.texts
            if text.text == warning.rule and str(text.source) == warning.source
        ),
        None,
    )
    return LintWarning(
        LintType.UNKNOWN_TOOL if is_unknown else LintType.MALFORMED_RULE,
        warning.rule,
        None,
        warning.source or "",
        None,
        warning.message,
        _mending(rule_text, is_unknown=is_unknown),
        rule_text.file if rule_text is not None else None,
        rule_text.line if rule_text is not None else None,
    )


def _mending(rule_text: RuleText | None, *, is_unknown: bool) -> str:
    corrected_rule = None
    if rule_text is not None and rule_text.invalid is None:
        corrected_rule = suggest_fix(rule_text.text, rule_text.behavior)
    if corrected_rule is not None:
        return f"write {corrected_rule}, or remove the rule"
    if is_unknown:
        tools = ", ".join(sorted(KNOWN_TOOLS - {"Cd", "LS"}))
        return f"use one of {tools}, or mcp__<server>__<tool>; or remove the rule"
    return "correct the rule or remove it"


def _one(rule: Rule, kind: LintType, message: str, fix: str) -> LintWarning:
    return LintWarning(
        kind, rule.text, None, str(rule.source), None, message, fix, rule.file, rule.line
    )


def _about_one(rule: Rule) -> Iterator[LintWarning]:
    specifier = rule.specifier
    if isinstance(specifier, PathPattern) and specifier.anchor is Anchor.SOURCE:
        first = specifier.pattern.partition("/")[0]
        if first in _ROOTS and rule.source is not RuleSource.POLICY:
            yield _one(
                rule,
                LintType.WRONG_ANCHOR,
                f"'/{specifier.pattern}' starts at the rule's own folder, not at the file system",
                f"write {rule.tool.text}(//{specifier.pattern}) for the absolute path",
            )
    if isinstance(specifier, PathPattern) and (trimmed_pattern := _without_outer_spaces(specifier)):
        yield _one(
            rule,
            LintType.UNREACHABLE,
            "a space belongs to the file's name, so this matches only names with that space",
            f"write {rule.tool.text}({trimmed_pattern})",
        )
    if isinstance(specifier, BashPattern):
        if (wildcard_problem := _wildcard_inside(rule, specifier)) is not None:
            yield wildcard_problem
        elif rule.behavior is RuleBehavior.ALLOW:
            yield from _about_command(rule, specifier)
    for example in failed_examples(rule):
        yield _one(rule, LintType.FAILED_EXAMPLE, example, "correct the rule or its example")


def _about_one_tool(rule: Rule, rules: RuleSet) -> Iterator[LintWarning]:
    """Report a deny or ask rule that leaves other ways to change the files that it names."""
    is_restricting = rule.behavior in _RESTRICTING and isinstance(rule.specifier, PathPattern)
    if not is_restricting or rule.tool.text not in EDIT_TOOLS or rule.tool.text == "Edit":
        return
    if any(other.tool.text == "Edit" and subsumes(other, _as_edit(rule)) for other in rules.rules):
        return
    yield _one(
        rule,
        LintType.ONE_TOOL_ONLY,
        f"is about {rule.tool.text} alone: Edit and commands may still change these files",
        f"write {rule.text.replace(rule.tool.text, 'Edit', 1)}, which covers every change",
    )


def _as_edit(rule: Rule) -> Rule:
    return replace(rule, tool=ToolPattern("Edit"))


def _without_outer_spaces(path_pattern: PathPattern) -> str | None:
    """Return the pattern without spaces around its components; None if there are none."""
    trimmed_pattern = "/".join(name.strip() for name in path_pattern.pattern.split("/"))
    anchor = "" if path_pattern.anchor is Anchor.CURRENT else path_pattern.anchor.value
    anchor += "../" * (path_pattern.parents or 0)
    return anchor + trimmed_pattern if trimmed_pattern != path_pattern.pattern else None


def _about_command(rule: Rule, pattern: BashPattern) -> Iterator[LintWarning]:
    words = _QUOTED.sub("x", pattern.text).replace(":*", " *").split()
    if pattern.is_exact:
        result = _code_on_input(rule, pattern)
    else:
        result = (
            _operator_problem(rule, pattern, words)
            or _unreachable_wildcard(rule, pattern, words)
            or _runner_wildcard(rule, words)
        )
    if result is not None:
        yield result


def _wildcard_inside(rule: Rule, pattern: BashPattern) -> LintWarning | None:
    words = pattern.text.split()
    is_in_name = len(words) > 1 and ":*" in words[0] and not pattern.text.endswith(":*")
    if not is_in_name and ":*" not in words[1:-1]:
        return None
    return _one(
        rule,
        LintType.UNREACHABLE,
        "':*' is a wildcard at the end only; here it stands for a colon",
        f"write Bash({' '.join(pattern.text.replace(':*', ' *').split())})",
    )


def _code_on_input(rule: Rule, pattern: BashPattern) -> LintWarning | None:
    facts = analyze(pattern.text, "/", "/")
    if isinstance(facts, Unparsable) or not any(one.takes_code for one in facts):
        return None
    return _one(
        rule,
        LintType.UNREACHABLE,
        "what it runs comes from its input, which no rule can name, so this never matches",
        "put the script into a file, and name the file in the rule",
    )


def _operator_problem(rule: Rule, pattern: BashPattern, words: Sequence[str]) -> LintWarning | None:
    if not any(word in _OPERATORS or word.endswith(";") for word in words):
        return None
    each = ", ".join(f"Bash({command})" for command in _commands(pattern.text))
    return _one(
        rule,
        LintType.UNREACHABLE,
        "commands are matched one by one, so an operator beside a wildcard never matches",
        f"write one rule for each command: {each}",
    )


def _unreachable_wildcard(
    rule: Rule, pattern: BashPattern, words: Sequence[str]
) -> LintWarning | None:
    if program_named(words[0]).runs_anything:
        return _one(
            rule,
            LintType.UNREACHABLE,
            f"'{words[0]}' runs any program, so a rule with a wildcard never covers it",
            f"write out the whole command, as in Bash({words[0]} <command>)",
        )
    literal = [word for word in words if "*" not in word]
    if words[0] in LOOKED_THROUGH and all(_OWN_WORD.fullmatch(word) for word in literal[1:]):
        return _one(
            rule,
            LintType.UNREACHABLE,
            f"'{words[0]}' runs another command, which is matched instead, so this allows nothing",
            "write the rule for that command, as in Bash(npm test *)",
        )
    return None


def _runner_wildcard(rule: Rule, words: Sequence[str]) -> LintWarning | None:
    literal = [word for word in words if "*" not in word]
    prefix = " ".join(literal)
    runners = (prefix, " ".join(word for word in literal if not _NO_PROGRAM.fullmatch(word)))
    if not any(one in RUNNERS or one in RUNNER_PREFIXES or one in _MORE_RUNNERS for one in runners):
        return None
    place = "<container> <program>" if runners[1] == "docker exec" else "<program>"
    return _one(
        rule,
        LintType.RUNNER_WILDCARD,
        f"'{prefix}' runs any program, so this allows everything",
        f"name the program, as in Bash({prefix} {place} *)",
    )


def _commands(text: str) -> list[str]:
    """Return the commands between the operators of a pattern."""
    parts: list[list[str]] = [[]]
    for word in _WORD.findall(text):
        if word in _OPERATORS:
            parts.append([])
        elif word.endswith(";") and word[-2:] != "\\;":
            parts[-1].append(word[:-1])
            parts.append([])
        else:
            parts[-1].append(word)
    commands = [" ".join(word for word in words if word) for words in parts]
    return list(dict.fromkeys(command for command in commands if command))


def _duplicates(rule: Rule, earlier: list[Rule]) -> Iterator[LintWarning]:
    for other in earlier:
        if other.behavior is not rule.behavior:
            continue
        wider, narrower = (other, rule) if subsumes(other, rule) else (rule, other)
        if wider is rule and not subsumes(rule, other):
            continue
        if wider.is_tool_wide and wider.tool.glob is None and wider.tool != narrower.tool:
            # `Edit` covers `Write` here, but not in Claude Code, which may share the file.
            continue
        yield LintWarning(
            LintType.DUPLICATE,
            narrower.text,
            wider.text,
            str(narrower.source),
            str(wider.source),
            f"{_rule_name(wider)} covers {_rule_name(narrower)} already",
            f"remove '{narrower.text}'",
            narrower.file,
            narrower.line,
        )
