"""Build the recorder of a conversation's session file, with secrets redacted."""

from __future__ import annotations

from msgspec import Struct

from agent.assembly.model_setup import ModelParts
from agent.assembly.session_opening import session_seal
from agent.assembly.start_context import StartContext
from agent.session.session_recorder import SessionRecorder
from permissions.base.text.redactor import Redactor, secrets_of


class Recording(Struct, frozen=True):
    """The recorder of a session, and its redactor."""

    recorder: SessionRecorder
    redactor: Redactor


def build_recording(start: StartContext, model: ModelParts) -> Recording:
    """Build the recorder; it continues from the state of a resumed session."""
    tracker = model.accounting.costs
    redactor = Redactor(secrets_of({**start.environment.env, **start.settings.env}))
    recorder = SessionRecorder(
        start.session,
        redact=redactor.line,
        cost_by_model=lambda: tracker.state.as_json(),
        limits=lambda: model.model_in_use.limits,
        rooms=lambda: model.recovery.room.rooms,
        seal=session_seal(start.environment, start.settings, start.session),
    )
    recorder.seed(
        start.resumed_conversation.states if start.resumed_conversation is not None else ()
    )
    return Recording(recorder, redactor)
