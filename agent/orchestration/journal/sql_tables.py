"""The tables of the journal in SQL that SQLite and Postgres both understand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from agent.orchestration.journal.journal_records import (
    Busy,
    CapReached,
    Caps,
    Claim,
    Claimed,
    Reused,
    RunRecord,
    StepRecord,
    StepState,
    Wish,
    WorkflowState,
    WorkflowUsage,
)
from agent.orchestration.journal.journal_store import JournalError, RunTakenError
from agent.orchestration.journal.journal_tables import RUN_COLUMNS, STEP_COLUMNS
from agent.orchestration.journal.sql_connection import SqlConnection, Transaction, Value

_Record = TypeVar("_Record", RunRecord, StepRecord)

_RUN: Final = ", ".join(RUN_COLUMNS)
_STEP: Final = ", ".join(STEP_COLUMNS)
_PLACE: Final = "run = ? AND key = ? AND occurrence = ?"


class SqlRuns:
    """The runs of a project."""

    def __init__(self, connection: SqlConnection) -> None:
        """The tables exist."""
        self._connection = connection

    def add(self, run: RunRecord) -> None:
        """Record a new run."""
        with self._connection.transaction(is_durable=True) as transaction:
            made = msgspec.structs.replace(run, created_at=transaction.now)
            values = [_plain(getattr(made, name)) for name in RUN_COLUMNS]
            marks = ", ".join("?" for _ in values)
            transaction.execute(f"INSERT INTO workflow_run ({_RUN}) VALUES ({marks})", values)

    def get(self, run: str) -> RunRecord | None:
        """Return one run; None where there is none."""
        with self._connection.transaction() as transaction:
            return _run(transaction, run)

    def newest(self, limit: int, name: str = "") -> Sequence[RunRecord]:
        """Return runs, the newest first; of one name, where there is one."""
        with self._connection.transaction() as transaction:
            rows = transaction.execute(
                f"SELECT {_RUN} FROM workflow_run WHERE ? = '' OR name = ? "
                "ORDER BY created_at DESC LIMIT ?",
                (name, name, limit),
            )
        return [_as_run(row) for row in rows]

    def take(self, run: str, owner: str, lease_s: float) -> RunRecord:
        """Make a process the owner."""
        with self._connection.transaction() as transaction:
            found = _run(transaction, run)
            if found is None:
                raise JournalError(f"there is no run {run}")
            if found.owner not in ("", owner) and found.lease_until > transaction.now:
                raise RunTakenError(f"the run {run} is under way in another process")
            transaction.execute(
                "UPDATE workflow_run SET owner = ?, lease_until = ?, state = ?, reason = '', "
                "wish = '', ended_at = NULL WHERE id = ?",
                (owner, transaction.now + lease_s, WorkflowState.RUNNING, run),
            )
            taken = _run(transaction, run)
        assert taken is not None
        return taken

    def renew(self, run: str, owner: str, lease_s: float) -> Wish:
        """Extend the leases; return what others want, once."""
        with self._connection.transaction() as transaction:
            until = transaction.now + lease_s
            rows = transaction.execute("SELECT owner, wish FROM workflow_run WHERE id = ?", (run,))
            if not rows or rows[0][0] != owner:
                return Wish.STOP
            transaction.execute(
                "UPDATE workflow_run SET lease_until = ?, wish = '' WHERE id = ?", (until, run)
            )
            transaction.execute(
                "UPDATE workflow_step SET lease_until = ? "
                "WHERE run = ? AND owner = ? AND state = 'running'",
                (until, run, owner),
            )
        return Wish(str(rows[0][1]))

    def set_state(
        self, run: str, state: WorkflowState, *, reason: str = "", result: str = ""
    ) -> None:
        """Record a state."""
        with self._connection.transaction(is_durable=True) as transaction:
            ended = transaction.now if state.is_over else None
            transaction.execute(
                "UPDATE workflow_run SET state = ?, reason = ?, ended_at = ?, "
                "result = CASE WHEN ? = '' THEN result ELSE ? END, "
                "lease_until = CASE WHEN ? THEN 0 ELSE lease_until END WHERE id = ?",
                (state, reason, ended, result, result, ended is not None, run),
            )

    def wish(self, run: str, wish: Wish) -> None:
        """Leave a wish for the owner."""
        with self._connection.transaction() as transaction:
            transaction.execute("UPDATE workflow_run SET wish = ? WHERE id = ?", (wish, run))

    def set_caps(self, run: str, max_agents: int, budget_usd: float | None) -> None:
        """Raise or lower the limits of a run."""
        with self._connection.transaction() as transaction:
            transaction.execute(
                "UPDATE workflow_run SET max_agents = ?, budget_usd = ? WHERE id = ?",
                (max_agents, budget_usd, run),
            )


class SqlSteps:
    """The steps of runs."""

    def __init__(self, connection: SqlConnection) -> None:
        """The tables exist."""
        self._connection = connection

    def claim(self, step: StepRecord, lease_s: float, caps: Caps) -> Claim:
        """Take a step for `step.owner`, or return why not; one transaction."""
        with self._connection.transaction() as transaction:
            found = _step(transaction, step.run, step.key, step.occurrence)
            if found is not None and found.state is StepState.DONE:
                return Reused(found.result, found.ended_at or 0.0)
            if found is not None and _is_elsewhere(found, step.owner, transaction.now):
                return Busy()
            return self._start(transaction, step, found, lease_s, caps)

    def _start(
        self,
        transaction: Transaction,
        step: StepRecord,
        found: StepRecord | None,
        lease_s: float,
        caps: Caps,
    ) -> Claim:
        running = _number(
            transaction,
            "SELECT COUNT(*) FROM workflow_step WHERE run = ? AND state = 'running' "
            "AND lease_until > ?",
            (step.run, transaction.now),
        )
        if running >= caps.concurrent:
            return Busy()
        run = _run(transaction, step.run)
        if run is None:
            raise JournalError(f"there is no run {step.run}")
        if run.agents >= run.max_agents:
            return CapReached("run", run.agents, run.max_agents)
        used = run.agents
        if run.session:
            used = _number(
                transaction,
                "SELECT COALESCE(SUM(agents), 0) FROM workflow_run WHERE session = ?",
                (run.session,),
            )
        if used >= caps.session_agents:
            return CapReached("session", used, caps.session_agents)
        attempt = 1 + (found.attempts if found is not None else 0)
        started = msgspec.structs.replace(
            step,
            state=StepState.RUNNING,
            attempts=attempt,
            lease_until=transaction.now + lease_s,
            started_at=found.started_at if found is not None else transaction.now,
        )
        _write_step(transaction, started)
        transaction.execute("UPDATE workflow_run SET agents = agents + 1 WHERE id = ?", (step.run,))
        return Claimed(attempt)

    def finish(self, step: StepRecord) -> bool:
        """Record an ended step; False where another result is recorded already."""
        with self._connection.transaction(is_durable=True) as transaction:
            found = _step(transaction, step.run, step.key, step.occurrence)
            if found is not None and found.state is StepState.DONE:
                return False
            is_lost = found is not None and found.owner != step.owner
            if is_lost and step.state is not StepState.DONE:
                # Somebody else runs it now; only a real answer is worth more than their attempt.
                return False
            started = found.started_at if found is not None else transaction.now
            ended = msgspec.structs.replace(
                step,
                attempts=max(step.attempts, found.attempts if found is not None else 1),
                started_at=started,
                ended_at=transaction.now,
                lease_until=0.0,
            )
            _write_step(transaction, ended)
        return True

    def of_run(self, run: str) -> Sequence[StepRecord]:
        """Return the steps in the order in which they were first started."""
        with self._connection.transaction() as transaction:
            rows = transaction.execute(
                f"SELECT {_STEP} FROM workflow_step WHERE run = ? "
                "ORDER BY started_at, key, occurrence",
                (run,),
            )
        return [_as_step(row) for row in rows]

    def usage(self, *, run: str = "", session: str = "") -> WorkflowUsage:
        """Return what was used by a run, or by all runs of a session."""
        column, value = ("id", run) if run else ("session", session)
        with self._connection.transaction() as transaction:
            agents = _number(
                transaction,
                f"SELECT COALESCE(SUM(agents), 0) FROM workflow_run WHERE {column} = ?",
                (value,),
            )
            rows = transaction.execute(
                "SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost_usd), 0), "
                "COALESCE(SUM(CASE WHEN cost_usd IS NULL AND tokens > 0 THEN 1 ELSE 0 END), 0) "
                "FROM workflow_step WHERE run IN "
                f"(SELECT id FROM workflow_run WHERE {column} = ?)",
                (value,),
            )
        tokens, cost, unpriced = (float(each or 0) for each in rows[0])
        return WorkflowUsage(agents, int(tokens), cost, is_cost_known=unpriced == 0)

    def find_done(self, key: str, occurrence: int, session: str) -> StepRecord | None:
        """Return a finished step of another run of the session, the newest first."""
        columns = ", ".join(f"s.{name}" for name in STEP_COLUMNS)
        with self._connection.transaction() as transaction:
            rows = transaction.execute(
                f"SELECT {columns} FROM workflow_step s JOIN workflow_run r ON r.id = s.run "
                "WHERE s.key = ? AND s.occurrence = ? AND s.state = 'done' AND r.session = ? "
                "ORDER BY s.ended_at DESC LIMIT 1",
                (key, occurrence, session),
            )
        return _as_step(rows[0]) if rows else None


def _is_elsewhere(step: StepRecord, owner: str, now: float) -> bool:
    """Return whether another process that is alive runs the step."""
    return step.state is StepState.RUNNING and step.owner != owner and step.lease_until > now


def _run(transaction: Transaction, run: str) -> RunRecord | None:
    rows = transaction.execute(f"SELECT {_RUN} FROM workflow_run WHERE id = ?", (run,))
    return _as_run(rows[0]) if rows else None


def _step(transaction: Transaction, run: str, key: str, occurrence: int) -> StepRecord | None:
    rows = transaction.execute(
        f"SELECT {_STEP} FROM workflow_step WHERE {_PLACE}", (run, key, occurrence)
    )
    return _as_step(rows[0]) if rows else None


def _write_step(transaction: Transaction, step: StepRecord) -> None:
    values = [_plain(getattr(step, name)) for name in STEP_COLUMNS]
    marks = ", ".join("?" for _ in values)
    changes = ", ".join(
        f"{name} = excluded.{name}"
        for name in STEP_COLUMNS
        if name not in ("run", "key", "occurrence")
    )
    transaction.execute(
        f"INSERT INTO workflow_step ({_STEP}) VALUES ({marks}) "
        f"ON CONFLICT (run, key, occurrence) DO UPDATE SET {changes}",
        values,
    )


def _number(transaction: Transaction, statement: str, values: Sequence[Value]) -> int:
    return int(transaction.execute(statement, values)[0][0] or 0)


def _as_run(row: tuple[Value, ...]) -> RunRecord:
    return _converted(dict(zip(RUN_COLUMNS, row, strict=True)), RunRecord)


def _as_step(row: tuple[Value, ...]) -> StepRecord:
    return _converted(dict(zip(STEP_COLUMNS, row, strict=True)), StepRecord)


def _converted(values: dict[str, Value], kind: type[_Record]) -> _Record:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise JournalError(f"a record of the journal cannot be read: {error}") from error


def _plain(value: object) -> Value:
    if isinstance(value, str):
        return str(value)
    assert value is None or isinstance(value, (int, float))
    return value
