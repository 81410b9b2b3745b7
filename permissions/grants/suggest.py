"""The rules that "don't ask again" would store: the narrowest useful ones, and what else they
allow.

Pure; nothing is written here (see `permissions.grants.settings_writer`). Next:
`permissions.grants.narrow_pattern` (the shapes of command rules).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.context import PermissionContext
from permissions.decision import (
    Behavior,
    Decision,
    DecisionWarning,
    GrantChoice,
    Reason,
    RuleRef,
    WarningType,
)
from permissions.evaluate.cascade import Evaluation
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.grants.narrow_pattern import beyond, pattern_for
from permissions.lint.lint import LintType, lint_new
from permissions.lint.subsume import subsumes
from permissions.matching.match_tool import ORCHESTRATED
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from permissions.tool_names import EDIT_TOOLS, canonical_tool

_UNWRITABLE: Final = "()\\\n\r"
"""Characters of paths that a rule cannot contain without being read as something else."""
READING_BELOW: Final = "reading everything below "
"""Start of the text that says what a rule for a directory allows."""
MAX_RULES: Final = 5
"""Rules stored for one compound command at most."""


class RuleOffer(Struct, frozen=True):
    """One rule of a grant: which part of the call it is for, and what it would mean."""

    rule: str
    part: str
    """The part of the call, as written; for other tools than Bash the path or address."""
    also_allows: str = ""
    """What the rule allows beyond this part; empty for an exact rule."""


class Grant(Struct, frozen=True):
    """One answer of the dialog that remembers something."""

    rules: tuple[str, ...]
    behavior: RuleBehavior
    destination: RuleSource | None
    """Where it is stored; None for "only this once"."""
    also_allows: str = ""
    """What the rules allow beyond this call; empty for exact rules."""
    offers: tuple[RuleOffer, ...] = ()
    """The rules one by one, in the order of the call's parts."""
    needless: tuple[RuleRef, ...] = ()
    """Existing allow rules that are redundant beside these."""


def suggest(
    evaluation: Evaluation, decision: Decision, *, destinations: Sequence[RuleSource] | None = None
) -> tuple[Grant, ...]:
    """Return the grants to offer for this ask, shortest lifetime first; empty if none helps.

    A rule helps only if the call asks because nothing matched (or, for reads outside the scope,
    because of the scope): an ask rule, a protected path or an unparsable command asks again.

    Args:
        decision: The ask of the evaluation, which hooks may have changed.
        destinations: Where rules may be stored; None is what the dialog offers: this session, and,
            except for edits, the project's local settings.
    """
    results: list[Grant] = []
    for destination in destinations or _destinations(evaluation.request):
        offers = _helpful_offers(evaluation, decision, destination)
        wide = _whole_directory(evaluation, decision) if destination is RuleSource.SESSION else ()
        alternatives = [offers, wide] if _rules_of(wide) != _rules_of(offers) else [offers]
        results += [_grant(one, destination, evaluation) for one in alternatives if one]
    return tuple(results)


def _grant(offers: Sequence[RuleOffer], destination: RuleSource, evaluation: Evaluation) -> Grant:
    rules = _rules_of(offers)
    return Grant(
        rules,
        RuleBehavior.ALLOW,
        destination,
        "; ".join(dict.fromkeys(o.also_allows for o in offers if o.also_allows)),
        tuple(offers),
        _needless(rules, destination, evaluation.context.rules),
    )


def _rules_of(offers: Sequence[RuleOffer]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(offer.rule for offer in offers))


def _helpful_offers(
    evaluation: Evaluation, decision: Decision, destination: RuleSource
) -> tuple[RuleOffer, ...]:
    """Return the offers that lift the ask, with those for read-only parts only if needed."""
    for with_reading in (False, True):
        offers = _offers(evaluation, decision, destination, with_reading=with_reading)
        rules = _rules_of(offers)
        if 0 < len(rules) <= MAX_RULES and _would_allow(rules, destination, evaluation):
            return offers
    return ()


def shadow_warnings_of(
    grant: GrantChoice, context: PermissionContext
) -> tuple[DecisionWarning, ...]:
    """Return a warning for each rule of a grant that can never take effect where it is stored."""
    new_rules = [
        RuleText(rule, RuleBehavior(str(grant.behavior)), RuleSource(grant.destination))
        for rule in grant.rules
    ]
    return tuple(
        DecisionWarning(
            WarningType.SHADOWED_RULE,
            result.source,
            result.rule,
            f"{result.message}; {result.fix}",
        )
        for result in lint_new(context.rules, new_rules)
        if result.type in {LintType.DENY_SHADOW, LintType.ASK_SHADOW}
    )


def _destinations(request: PermissionRequest) -> tuple[RuleSource, ...]:
    if canonical_tool(request.tool) in EDIT_TOOLS:
        return (RuleSource.SESSION,)
    return (RuleSource.SESSION, RuleSource.LOCAL)


def _needless(texts: Sequence[str], destination: RuleSource, rules: RuleSet) -> tuple[RuleRef, ...]:
    """Return the allow rules in settings files that the new rules would make redundant."""
    new = RuleSet.build([RuleText(text, RuleBehavior.ALLOW, destination) for text in texts])[0]
    return tuple(
        stored_rule.ref
        for stored_rule in rules.rules
        if stored_rule.behavior is RuleBehavior.ALLOW
        and stored_rule.file is not None
        and (stored_rule.source is destination or destination is RuleSource.USER)
        and any(subsumes(wider, stored_rule) for wider in new.rules)
    )


def _offers(
    evaluation: Evaluation, decision: Decision, destination: RuleSource, *, with_reading: bool
) -> tuple[RuleOffer, ...]:
    request = evaluation.request
    tool = request.tool
    if decision.reason is Reason.SCOPE_BOUNDS_VIOLATION and tool in _READERS:
        return _read_offer(request)
    if decision.reason is not Reason.MODE_DEFAULT:
        return ()
    if tool == "Bash":
        return _bash_offers(evaluation, destination, with_reading=with_reading)
    if canonical_tool(tool) in EDIT_TOOLS:
        path = _text(request, "file_path") or _text(request, "notebook_path")
        return _edit_offer(path, evaluation.context, destination)
    if tool == "WebFetch":
        host = urlsplit(_text(request, "url")).hostname
        return (
            (RuleOffer(f"WebFetch(domain:{host})", host, f"every page of {host}"),) if host else ()
        )
    if tool == "Workflow":
        return _workflow_offer(request, destination)
    if tool.startswith("mcp__"):
        return (RuleOffer(tool, tool, f"every call of {tool}"),)
    return ()


def _workflow_offer(request: PermissionRequest, destination: RuleSource) -> tuple[RuleOffer, ...]:
    """Return a rule for this exact script; for the session also wider ones."""
    is_for_session = destination is RuleSource.SESSION
    if is_for_session and request.tool_input.get("orchestration") is True:
        rule = f"Workflow({ORCHESTRATED})"
        return (RuleOffer(rule, "", "every workflow while orchestration mode is on"),)
    workflow = _text(request, "workflow")
    if workflow == "subtasks":
        if not is_for_session:
            return ()
        return (RuleOffer("Workflow(subtasks)", workflow, "every fan-out over subtasks"),)
    if _NAMED_SCRIPT.fullmatch(workflow) is None:
        return ()
    return (RuleOffer(f"Workflow({workflow})", workflow),)


_NAMED_SCRIPT: Final = compile_late(r"[\w.-]+(?: [\w.-]+)*@[0-9a-f]{20,64}")
"""A name without characters that mean something in rules, and the hash of its script."""


def _read_offer(request: PermissionRequest) -> tuple[RuleOffer, ...]:
    path = _text(request, "file_path") or _text(request, "path")
    if not os.path.isabs(path) or any(character in path for character in _UNWRITABLE):
        return ()
    path = os.path.normpath(path)
    directory = os.path.dirname(path) if request.tool == "Read" else path
    if directory.count("/") < _NARROW_DEPTH:
        # The directory contains too much: offer only the file, or nothing for a whole directory.
        return (RuleOffer(f"Read(/{_escaped_path(path)})", path),) if request.tool == "Read" else ()
    return (_directory_offer(directory, path),)


def _whole_directory(evaluation: Evaluation, decision: Decision) -> tuple[RuleOffer, ...]:
    """Return a session rule for a directory that contains too much for a stored rule."""
    request = evaluation.request
    path = os.path.normpath(_text(request, "file_path") or _text(request, "path"))
    directory = os.path.dirname(path) if request.tool == "Read" else path
    home = str(evaluation.context.home)
    if (
        request.tool not in _READERS
        or decision.reason is not Reason.SCOPE_BOUNDS_VIOLATION
        or directory in _TOO_WIDE
        or not os.path.isabs(directory)
        or f"{home}/".startswith(f"{directory}/")
        or any(character in path for character in _UNWRITABLE)
    ):
        return ()
    offers = (_directory_offer(directory, path),)
    is_enough = _would_allow(_rules_of(offers), RuleSource.SESSION, evaluation)
    return offers if is_enough else ()


def _directory_offer(directory: str, path: str) -> RuleOffer:
    rule = f"Read(/{_escaped_path(directory)}/**)"
    return RuleOffer(rule, path, f"{READING_BELOW}{directory}")


_READERS: Final = frozenset({"Read", "Glob", "Grep"})
_TOO_WIDE: Final = frozenset({"/", "//", "/home", "/root", "/Users"})
"""Everything, and where the files of all users are."""
_NARROW_DEPTH: Final = 3
"""Directories with fewer components (`/etc`, `/home/me`) contain too much for a stored rule; for
this session they are offered in addition to the file."""


def _bash_offers(
    evaluation: Evaluation, destination: RuleSource, *, with_reading: bool
) -> tuple[RuleOffer, ...]:
    base, context = evaluation.view.base, evaluation.context
    offers: list[RuleOffer] = []
    for part, verdict in zip(evaluation.parts, evaluation.verdicts, strict=True):
        if verdict.behavior is Behavior.ALLOW or (part.is_provably_harmless and not with_reading):
            continue
        if part.kind == "write":
            target = _redirect_target(part.text)
            if (scratch := context.scratch_dir) and _IN_TEMP_DIR.match(target):
                # The path differs in the next session.
                if destination is not RuleSource.SESSION:
                    return ()
                rule = f"Edit(/{_escaped_path(str(scratch))}/**)"
                offers.append(RuleOffer(rule, part.text, "writing below $TMPDIR"))
                continue
            path = os.path.normpath(os.path.join(base, target))
            file_rule = _anchored_path(path, context, destination) if target else None
            if file_rule is None:
                return ()
            offers.append(RuleOffer(f"Edit({file_rule})", part.text, f"editing {target}"))
            continue
        pattern = pattern_for(part.text) if part.kind == "command" else None
        if pattern is None:
            return ()
        offers.append(RuleOffer(f"Bash({pattern})", part.text, beyond(pattern)))
    return tuple(offers)


_IN_TEMP_DIR: Final = compile_late(r"\$(?:TMPDIR|\{TMPDIR(?::?-[\w./-]*)?\})/")


def _redirect_target(text: str) -> str:
    """Return the file of a redirection, or "" if it is not one plain word."""
    try:
        words = shlex.split(text.lstrip("0123456789<>&|"))
    except ValueError:
        return ""
    return words[0] if len(words) == 1 else ""


def _edit_offer(
    path: str, context: PermissionContext, destination: RuleSource
) -> tuple[RuleOffer, ...]:
    directory = os.path.dirname(os.path.normpath(os.path.join(str(context.launch_dir), path)))
    anchored_path = _anchored_path(directory, context, destination)
    if anchored_path is None:
        return ()
    launch_dir = str(context.launch_dir)
    inside = directory.startswith(f"{launch_dir}/")
    where = directory[len(launch_dir) + 1 :] if inside else directory
    where = "this folder" if directory == launch_dir else where
    rule = f"Edit({anchored_path.rstrip('/')}/**)"
    return (RuleOffer(rule, path, f"editing every file below {where}"),)


def _would_allow(rules: Sequence[str], destination: RuleSource, evaluation: Evaluation) -> bool:
    """Whether the rules really lift this ask: nothing is offered that would ask again."""
    extra = [RuleText(rule, RuleBehavior.ALLOW, destination) for rule in rules]
    context = evaluation.context
    new_context = context.with_rules(context.rules.with_rules(extra))
    decision = decide_with_classifier(
        evaluation.request, new_context, cwd=Path(evaluation.view.base)
    )
    return decision.behavior is Behavior.ALLOW


def _text(request: PermissionRequest, key: str) -> str:
    value = request.tool_input.get(key)
    return value if isinstance(value, str) else ""


def _anchored_path(path: str, context: PermissionContext, destination: RuleSource) -> str | None:
    """Return a path as rules of that source write it (`/x` below their anchor, else `//x`), or
    None."""
    if any(character in path for character in _UNWRITABLE):
        return None
    anchor = str(context.anchor(destination))
    if path == anchor:
        return "/"
    inside = anchor != "/" and path.startswith(anchor + "/")
    return _escaped_path(path[len(anchor) :] if inside else f"/{path}")


def _escaped_path(path: str) -> str:
    """Return a path with the special characters of patterns escaped."""
    return "".join(f"\\{one}" if one in "*?[]!#" else one for one in path)
