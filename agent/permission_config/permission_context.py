"""The permission context from settings and flags, and where "don't ask again" is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, field

from agent.permission_config.named_files import protected_files, written_files
from agent.settings.file import read_settings
from agent.settings.ignore_in_git import ignore_in_git
from agent.settings.load import Settings
from agent.settings.rules import rules_of
from agent.settings.trust import TrustStore
from permissions.context import PermissionContext, SandboxState, is_locked
from permissions.decision import DecisionWarning, GrantChoice, WarningType
from permissions.explain.explain_decision import place_relative
from permissions.grants.settings_writer import store_rules, undo
from permissions.matching.effective_rules import without_dangerous
from permissions.mode import Mode, parse_mode
from permissions.rule import Rule, RuleBehavior, RuleSet, RuleSource, RuleText


class PermissionSetup(Struct, frozen=True):
    """A context to start with, and the warnings about it."""

    context: PermissionContext
    warnings: tuple[DecisionWarning, ...]
    notes: tuple[str, ...] = ()
    """The warnings as text, and further notices about the rules."""


def permission_setup(
    settings: Settings,
    *,
    bypass_available: bool,
    auto_available: bool = False,
    session_rules: Sequence[RuleText] = (),
    session_dirs: Sequence[Path] = (),
    scratch_dir: Path | None = None,
    readable_dirs: Sequence[Path] = (),
    resumed_mode: str | None = None,
    sandbox: SandboxState | None = None,
) -> PermissionSetup:
    """Build the context; a mode that may not be entered falls back to default and is reported."""
    rules, warnings = RuleSet.build((*settings.rules, *session_rules))
    bypass = bypass_available and not is_locked(settings.policy, "disableBypassPermissionsMode")
    mode, mode_warnings = _mode(settings, resumed_mode, bypass, auto_available)
    context = PermissionContext(
        mode=mode,
        rules=rules,
        launch_dir=settings.launch_dir,
        project_root=settings.project_root,
        home=settings.home,
        additional_dirs=(*settings.additional_dirs, *session_dirs),
        is_trusted=settings.trust.is_settled,
        bypass_available=bypass,
        policy=settings.policy,
        own_dirs=(settings.agent_home,),
        protected_files=protected_files(settings),
        written_files=written_files(settings),
        readable_dirs=tuple(readable_dirs),
        scratch_dir=scratch_dir,
        blocked_hosts=frozenset(h.lower() for h in settings.values.blockedHosts or ()),
        settings_dir=settings.agent_home,
        sandbox=sandbox or SandboxState(),
    )
    notes: list[str] = []
    if rules != RuleSet():
        # Imports the command parser, which a start without rules does not need.
        from permissions.lint.load_notices import rule_notes

        short = place_relative(str(settings.project_root), str(settings.home))
        notes.extend(rule_notes(rules, short))
    notes.extend(warning.message for warning in mode_warnings)
    if mode is Mode.AUTO and (stripped_rules := without_dangerous(rules)[1]):
        notes.append(stripped_note(stripped_rules))
    return PermissionSetup(context, (*warnings, *mode_warnings), tuple(notes))


def stripped_note(rules: Sequence[Rule]) -> str:
    """Return a notice about the allow rules that the mode `auto` disables."""
    names = ", ".join(rule.text for rule in rules)
    return f"Allow rules that are not used in auto mode: {names}."


def _mode(
    settings: Settings, resumed_mode: str | None, bypass: bool, auto: bool
) -> tuple[Mode, tuple[DecisionWarning, ...]]:
    text = settings.mode.text if settings.mode is not None else resumed_mode
    if text is None:
        return Mode.DEFAULT, ()
    source = str(settings.mode.origin.source) if settings.mode is not None else "session"
    mode = parse_mode(text)
    if mode is None:
        warning = DecisionWarning(
            WarningType.UNKNOWN_MODE,
            source,
            None,
            f"{text!r} is not a permission mode; using default. Known: {', '.join(Mode)}.",
        )
        return Mode.DEFAULT, (warning,)
    if mode is Mode.BYPASS and not bypass:
        warning = DecisionWarning(
            WarningType.BYPASS_UNAVAILABLE,
            source,
            None,
            "bypassPermissions needs --allow-bypass at start (and not root without "
            "IS_SANDBOX=1, and no policy against it); default is used.",
        )
        return Mode.DEFAULT, (warning,)
    if mode is Mode.AUTO and not auto:
        warning = DecisionWarning(
            WarningType.MODE_IGNORED,
            source,
            None,
            'auto needs the model classifier ("autoMode": {"enabled": true} in your own or the '
            "managed settings, and no policy against it); default is used.",
        )
        return Mode.DEFAULT, (warning,)
    return mode, ()


class Grants(Struct):
    """Stores the rules that answers grant, and applies them at once."""

    settings: Callable[[], Settings]
    add_rules: Callable[[Sequence[RuleText]], None]
    """Applies rules in the gate."""
    session: list[tuple[str, str]] = field(default_factory=list)
    """`(behavior, rule)` granted for this session."""
    on_session_change: Callable[[Sequence[tuple[str, str]]], None] = lambda _: None
    on_allowed: Callable[[Sequence[str]], None] = lambda _: None
    """Receives the allow rules of an answer before they are stored. Raises OSError."""

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        """Store the rules where the answer specifies; return what was added.

        Raises:
            OSError: the settings file cannot be changed; nothing applies then.
        """
        settings = self.settings()
        source = RuleSource(grant.destination)
        behavior = RuleBehavior(str(grant.behavior))
        file: Path | None = None
        if behavior is RuleBehavior.ALLOW:
            self.on_allowed(grant.rules)
        if source is RuleSource.SESSION:
            self.session.extend((str(behavior), rule) for rule in grant.rules)
            self.on_session_change(tuple(self.session))
        else:
            file = self.file_of(settings, source)
            is_own = source is RuleSource.USER
            within = None if is_own else settings.project_root
            receipt = store_rules(file, behavior, grant.rules, within=within)
            if behavior is RuleBehavior.ALLOW:
                try:
                    self.note_own(source, grant.rules)
                except OSError:
                    # Otherwise the next start asks whether to trust the user's own rule.
                    undo(receipt, within=within)
                    raise
            if source is RuleSource.LOCAL:
                ignore_in_git(file)
        lines = _lines_of(file, source, behavior) if file is not None else {}
        self.add_rules(
            [
                RuleText(
                    rule,
                    behavior,
                    source,
                    str(file) if file is not None else None,
                    lines.get(rule),
                )
                for rule in grant.rules
            ]
        )
        return tuple(grant.rules)

    def forget(self, behavior: str, rule: str) -> None:
        """Remove one rule from the session's record."""
        if (behavior, rule) in self.session:
            self.session.remove((behavior, rule))
            self.on_session_change(tuple(self.session))

    def remember(self, behavior: str, rule: str) -> None:
        """Add one rule to the session's record."""
        self.session.append((behavior, rule))
        self.on_session_change(tuple(self.session))

    def note_own(self, source: RuleSource, rules: Sequence[str]) -> None:
        """Record in the trust store that these rules of a project file are the user's own."""
        settings = self.settings()
        if source in {RuleSource.PROJECT, RuleSource.LOCAL}:
            TrustStore(settings.agent_home / "trust.json").note_own_rules(
                settings.trust.root, rules
            )

    @staticmethod
    def file_of(settings: Settings, source: RuleSource) -> Path:
        """Return the settings file that contains rules of a source."""
        match source:
            case RuleSource.PROJECT:
                return settings.project_root / ".agent" / "settings.json"
            case RuleSource.LOCAL:
                return settings.project_root / ".agent" / "settings.local.json"
            case RuleSource.USER:
                return settings.agent_home / "settings.json"
            case RuleSource.POLICY | RuleSource.CLI | RuleSource.SESSION:
                raise OSError(f"rules of {source} are not kept in a file that answers may change")


def _lines_of(file: Path, source: RuleSource, behavior: RuleBehavior) -> dict[str, int | None]:
    """Return the line of each rule that a file contains now."""
    settings_file, _ = read_settings(file, source)
    if settings_file is None:
        return {}
    return {
        rule.text: rule.line for rule in rules_of(settings_file)[0] if rule.behavior is behavior
    }
