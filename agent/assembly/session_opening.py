"""Opens the session that a start is about: a new one, an earlier one, or a copy of it."""

from __future__ import annotations

from agent.assembly.environment import Environment
from agent.errors import SessionError, SessionLocked
from agent.options import RunOptions
from agent.session.archive.find_by_name import find_session
from agent.session.resume import ResumedConversation, load
from agent.session.store import Session, SessionStore
from agent.settings.load import Settings
from agent.tools.shell.shell_process import sweep_private


def open_session(
    options: RunOptions, environment: Environment, settings: Settings
) -> tuple[Session, ResumedConversation | None, tuple[str, ...]]:
    """Open the session that the options name, or a new one; the last part is for the user.

    Raises:
        SessionError: there is none of that id, the id of a new one is taken, or no folder takes
            session files.
    """
    store = SessionStore(environment.agent_home, version=environment.version)
    found = None
    if not options.keeps_session:
        session = store.create_unsaved(
            settings.project_root,
            launch_dir=environment.launch_dir,
            session_id=options.session_id,
            is_kept=False,
        )
        return session, None, ()
    if options.resume:
        found = find_session(store, options.resume)
    elif options.continue_latest or options.resume == "":
        found = store.latest(settings.project_root)
        if found is None and (options.continue_latest or options.headless):
            raise SessionError("There is no earlier session in this project to continue.")
    if options.session_id is not None:
        _refuse_taken(store, options.session_id)
    if found is None:
        root, folder, new_id = settings.project_root, environment.launch_dir, options.session_id
        try:
            session = store.create(root, launch_dir=folder, session_id=new_id)
        except SessionError as error:
            if new_id is not None:
                # Another start may have been faster.
                _refuse_taken(store, new_id)
            session = store.create_unsaved(root, launch_dir=folder, session_id=new_id)
            place = session.temporary_home
            told = (
                f"This conversation will not be kept with the others. {error} It lies in {place}; "
                f"to go on with it: AGENT_TUI_HOME={place} agent-tui -c"
            )
            return session, None, (told,)
        return session, None, ()
    if options.fork_session:
        session = store.fork(found.id, new_id=options.session_id)
        return session, load(session.path), (f"This is a copy of session {found.id}.",)
    try:
        session = store.open(found.id)
        for name in ("results", "scratch"):
            sweep_private(session.folder / name)
        notes = session.transcript.repairs
    except SessionLocked as error:
        session = store.fork(found.id, is_wanted=False)
        who = f"process {error.holder_pid}" if error.holder_pid else "another process"
        notes = (
            f"That session is open in {who}. This is a copy of it; what you do here is not "
            "seen there.",
        )
    return session, load(session.path), notes


def _refuse_taken(store: SessionStore, session_id: str) -> None:
    if any(info.id == session_id for info in store.list()):
        raise SessionError(
            f"There is a session {session_id} already. To go on with it: "
            f"agent-tui -r {session_id[:8]}"
        )
