"""Opens the session of a start: a new one, an earlier one, or a copy of one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from agent.assembly.environment import Environment
from agent.errors import SessionError, SessionLocked
from agent.options import RunOptions
from agent.session.resume import ResumedConversation, load
from agent.session.session_seal import SessionSeal
from agent.session.store import Session, SessionInfo, SessionStore
from agent.settings.load import Settings
from agent.tools.shell.shell_process import sweep_private

_NOTHING_TO_CONTINUE: Final = "No earlier session in this project to continue; this is a new one."


def open_session(
    options: RunOptions, environment: Environment, settings: Settings
) -> tuple[Session, ResumedConversation | None, tuple[str, ...]]:
    """Open the session that the options name, or a new one; also return notes for the user.

    Raises:
        SessionError: no session has that id, the id for a new one is in use, or no directory is
            writable.
    """
    home = options.session_home or environment.agent_home
    store = SessionStore(home, version=environment.version)

    def load_checked(session: Session) -> ResumedConversation:
        return session_seal(environment, settings, session).check(load(session.path))

    root, launch_dir = settings.project_root, environment.launch_dir
    if not options.stores_session:
        session = store.create_unsaved(
            root, launch_dir=launch_dir, session_id=options.session_id, is_stored=False
        )
        return session, None, ()
    session_info = _session_to_continue(store, options, root)
    if options.session_id is not None:
        _refuse_existing_id(store, options.session_id)
    if session_info is None:
        session, notes = _create(store, root, launch_dir, options.session_id)
        if options.continue_latest:
            notes = (_NOTHING_TO_CONTINUE, *notes)
        return session, None, notes
    if options.fork_session:
        session = store.fork(session_info.id, new_id=options.session_id)
        return session, load_checked(session), (f"This is a copy of session {session_info.id}.",)
    try:
        session = store.open(session_info.id)
        for name in ("results", "scratch"):
            sweep_private(session.directory / name)
        notes = session.transcript.repairs
        if _shows_draft(options):
            from agent.session.unsent_draft import take_over_drafts  # imported only with -c

            take_over_drafts(store, session_info, session)
    except SessionLocked as error:
        session = store.fork(session_info.id, is_wanted=False)
        who = f"process {error.holder_pid}" if error.holder_pid else "another process"
        notes = (
            f"That session is open in {who}. This is a copy of it; what you do here is not "
            "seen there.",
        )
    return session, load_checked(session), notes


def session_seal(environment: Environment, settings: Settings, session: Session) -> SessionSeal:
    """Return what marks and checks the rights of a session."""
    return SessionSeal(environment.agent_home, session.id, settings.project_root)


def _shows_draft(options: RunOptions) -> bool:
    """Whether an unsent draft of the session is put into the composer."""
    return options.continue_latest and not options.headless and not options.prompt


def _session_to_continue(
    store: SessionStore, options: RunOptions, root: Path
) -> SessionInfo | None:
    """Return the session to continue, or None for a new one."""
    if options.resume:
        from agent.session.archive.find_by_name import find_session  # imported only with -r

        return find_session(store, options.resume)
    if not options.continue_latest and options.resume is None:
        return None
    if options.headless and not options.continue_latest:
        # An empty variable in a script must not resume the latest session.
        raise SessionError(
            "--resume without a screen needs a session's id or name; -c is the latest."
        )
    session_info = store.latest(root)
    if session_info is None and options.continue_latest and not options.headless:
        raise SessionError("No earlier session in this project to continue.")
    return session_info


def _create(
    store: SessionStore, root: Path, launch_dir: Path, session_id: str | None
) -> tuple[Session, tuple[str, ...]]:
    """Create a session, in a temporary directory if its own is not writable; return a note."""
    try:
        return store.create(root, launch_dir=launch_dir, session_id=session_id), ()
    except SessionError as error:
        if session_id is not None:
            # Another process may have created it meanwhile.
            _refuse_existing_id(store, session_id)
        session = store.create_unsaved(root, launch_dir=launch_dir, session_id=session_id)
        place = session.temporary_home
        note = (
            f"This conversation cannot be stored with the others. {error} It is in {place}; "
            f"to continue it: AGENT_TUI_HOME={place} agent-tui -c"
        )
        return session, (note,)


def _refuse_existing_id(store: SessionStore, session_id: str) -> None:
    if any(info.id == session_id for info in store.list()):
        raise SessionError(
            f"Session {session_id} already exists. To continue it: agent-tui -r {session_id[:8]}"
        )
