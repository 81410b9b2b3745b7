"""The tables of the journal in SQL that SQLite and Postgres both understand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from agent.orchestration.journal.journal_error import (
    JournalError,
    RunTakenError,
    UnknownRunError,
)
from agent.orchestration.journal.journal_limits import limit_reached, near_limits
from agent.orchestration.journal.journal_records import (
    Busy,
    Caps,
    Claim,
    Claimed,
    OwnerRequest,
    Reused,
    RunChange,
    RunRecord,
    StepPlace,
    StepRecord,
    StepState,
    WorkflowState,
    WorkflowUsage,
)
from agent.orchestration.journal.journal_tables import RUN_COLUMNS, STEP_COLUMNS
from agent.orchestration.journal.run_owner import is_gone
from agent.orchestration.journal.sql_connection import SqlConnection, Transaction, Value
from permissions.base.text.strict_json import without_surrogates

_Record = TypeVar("_Record", RunRecord, StepRecord)

_RUN: Final = ", ".join(RUN_COLUMNS)
_STEP: Final = ", ".join(STEP_COLUMNS)
_PLACE: Final = "run = ? AND key = ? AND occurrence = ?"
_COUNT_AGENT: Final = "UPDATE workflow_run SET agents = agents + 1 WHERE id = ?"


class SqlRuns:
    """The runs of a project."""

    def __init__(self, connection: SqlConnection) -> None:
        """The tables exist."""
        self._connection = connection

    def add(self, run: RunRecord) -> None:
        """Record a new run."""
        with self._connection.transaction(is_durable=True) as transaction:
            record = msgspec.structs.replace(run, created_at=transaction.now)
            values = [_storable(getattr(record, name)) for name in RUN_COLUMNS]
            marks = ", ".join("?" for _ in values)
            transaction.execute(f"INSERT INTO workflow_run ({_RUN}) VALUES ({marks})", values)

    def get(self, run: str) -> RunRecord | None:
        """Return one run; None if there is none."""
        with self._connection.transaction() as transaction:
            return _run(transaction, run)

    def newest(self, limit: int, name: str = "") -> Sequence[RunRecord]:
        """Return runs, the newest first; only those of a name if `name` is not empty."""
        with self._connection.transaction() as transaction:
            rows = transaction.execute(
                f"SELECT {_RUN} FROM workflow_run WHERE ? = '' OR name = ? "
                "ORDER BY created_at DESC LIMIT ?",
                (name, name, limit),
            )
        return [_as_run(row) for row in rows]

    def take(self, run: str, owner: str, lease_s: float) -> RunRecord:
        """Make a process the owner. Raises `RunTakenError` while another owner is alive."""
        with self._connection.transaction() as transaction:
            current = _run(transaction, run)
            if current is None:
                raise UnknownRunError(f"there is no run {run}")
            is_leased = current.lease_until > transaction.now and not is_gone(current.owner)
            if current.owner not in ("", owner) and is_leased:
                raise RunTakenError(f"the run {run} is under way in another process")
            transaction.execute(
                "UPDATE workflow_run SET owner = ?, lease_until = ?, state = ?, reason = '', "
                "wish = '', ended_at = NULL WHERE id = ?",
                (owner, transaction.now + lease_s, WorkflowState.RUNNING, run),
            )
            owned_run = _run(transaction, run)
        assert owned_run is not None
        return owned_run

    def renew(self, run: str, owner: str, lease_s: float) -> OwnerRequest:
        """Extend the leases of a run and its steps; return and clear a request to it.

        Raises `RunTakenError` if the run has another owner by now.
        """
        with self._connection.transaction() as transaction:
            lease_until = transaction.now + lease_s
            rows = transaction.execute("SELECT owner, wish FROM workflow_run WHERE id = ?", (run,))
            if not rows or rows[0][0] != owner:
                raise RunTakenError(f"another process took the run {run} over")
            transaction.execute(
                "UPDATE workflow_run SET lease_until = ?, wish = '' WHERE id = ?",
                (lease_until, run),
            )
            transaction.execute(
                "UPDATE workflow_step SET lease_until = ? "
                "WHERE run = ? AND owner = ? AND state = 'running'",
                (lease_until, run, owner),
            )
        return OwnerRequest(str(rows[0][1]))

    def set_state(
        self,
        run: str,
        owner: str,
        state: WorkflowState,
        *,
        reason: str = "",
        result: str = "",
        releases: bool = False,
    ) -> None:
        """Record a state; no effect if the run has another owner by now."""
        with self._connection.transaction(is_durable=True) as transaction:
            ended_at = transaction.now if state.is_over else None
            transaction.execute(
                "UPDATE workflow_run SET state = ?, reason = ?, ended_at = ?, "
                "result = CASE WHEN ? = '' THEN result ELSE ? END, "
                "lease_until = CASE WHEN ? THEN 0 ELSE lease_until END WHERE id = ? AND owner = ?",
                (
                    *(state, _storable(reason), ended_at, _storable(result), _storable(result)),
                    *(ended_at is not None, run, owner),
                ),
            )
            if releases:
                transaction.execute(
                    "UPDATE workflow_run SET owner = '', lease_until = 0 "
                    "WHERE id = ? AND owner = ?",
                    (run, owner),
                )

    def request(self, run: str, action: OwnerRequest) -> None:
        """Store a request to the owner, which replaces an earlier one."""
        with self._connection.transaction() as transaction:
            transaction.execute("UPDATE workflow_run SET wish = ? WHERE id = ?", (action, run))

    def change(self, run: str, change: RunChange) -> None:
        """Change limits of a run, or replace its script while no process runs it."""
        with self._connection.transaction() as transaction:
            transaction.execute(
                "UPDATE workflow_run SET max_agents = COALESCE(?, max_agents), "
                "max_tokens = COALESCE(?, max_tokens), budget_usd = COALESCE(?, budget_usd), "
                "script = COALESCE(?, script) WHERE id = ?",
                (change.agents, change.tokens, change.usd, change.script, run),
            )


class SqlSteps:
    """The steps of runs."""

    def __init__(self, connection: SqlConnection) -> None:
        """The tables exist."""
        self._connection = connection

    def claim(self, step: StepRecord, lease_s: float, caps: Caps) -> Claim:
        """Claim a step for `step.owner`, or return why not, in one transaction."""
        with self._connection.transaction() as transaction:
            current = _step(transaction, step.run, step.key, step.occurrence)
            if current is not None and current.state is StepState.DONE:
                return Reused(current.result, current.ended_at or 0.0)
            if current is not None and _runs_elsewhere(current, step.owner, transaction.now):
                return Busy()
            return self._start(transaction, step, current, lease_s, caps)

    def _start(
        self,
        transaction: Transaction,
        step: StepRecord,
        earlier: StepRecord | None,
        lease_s: float,
        caps: Caps,
    ) -> Claim:
        owners = transaction.execute(
            "SELECT owner, COUNT(*) FROM workflow_step WHERE run = ? AND state = 'running' "
            "AND lease_until > ? GROUP BY owner",
            (step.run, transaction.now),
        )
        working = sum(int(count or 0) for owner, count in owners if not is_gone(str(owner)))
        if working >= caps.concurrent:
            return Busy()
        run = _run(transaction, step.run)
        if run is None:
            raise UnknownRunError(f"there is no run {step.run}")
        usage = _usage(transaction, "id", run.id)
        in_session = _usage(transaction, "session", run.session) if run.session else None
        if (limit := limit_reached(run, working, usage, in_session, caps)) is not None:
            return limit
        attempt = 1 + (earlier.attempts if earlier is not None else 0)
        running_step = msgspec.structs.replace(
            step,
            state=StepState.RUNNING,
            attempts=attempt,
            lease_until=transaction.now + lease_s,
            started_at=earlier.started_at if earlier is not None else transaction.now,
        )
        if earlier is not None:
            running_step = msgspec.structs.replace(
                running_step, tokens=earlier.tokens, cost_usd=earlier.cost_usd
            )
        _write_step(transaction, running_step)
        transaction.execute(_COUNT_AGENT, (step.run,))
        return Claimed(attempt, near_limits(run, usage, in_session, caps))

    def get(self, run: str, key: str, occurrence: int) -> StepRecord | None:
        """Return one step; None if there is none."""
        with self._connection.transaction() as transaction:
            return _step(transaction, run, key, occurrence)

    def hold(self, place: StepPlace, owner: str, lease_s: float, *, if_dead: bool = False) -> bool:
        """Transfer a running step of `place.owner` to `owner`, or extend its lease.

        With `if_dead`, only if the old owner has ended. Return whether `owner` has it now.
        """
        key = (place.run, place.key, place.occurrence)
        with self._connection.transaction() as transaction:
            current = _step(transaction, *key)
            if (
                current is None
                or current.state is not StepState.RUNNING
                or current.owner != place.owner
            ):
                return False
            if if_dead and _runs_elsewhere(current, owner, transaction.now):
                return False
            transaction.execute(
                f"UPDATE workflow_step SET owner = ?, lease_until = ? WHERE {_PLACE}",
                (owner, transaction.now + lease_s, *key),
            )
            if if_dead:
                # Another agent starts for it, which counts toward limits.
                transaction.execute(
                    f"UPDATE workflow_step SET attempts = attempts + 1 WHERE {_PLACE}", key
                )
                transaction.execute(_COUNT_AGENT, (place.run,))
        return True

    def remove_run(self, run: str) -> None:
        """Delete a run and its steps."""
        with self._connection.transaction() as transaction:
            transaction.execute("DELETE FROM workflow_step WHERE run = ?", (run,))
            transaction.execute("DELETE FROM workflow_run WHERE id = ?", (run,))

    def finish(self, step: StepRecord) -> bool:
        """Record an ended step; False if another result is already recorded."""
        with self._connection.transaction(is_durable=True) as transaction:
            current = _step(transaction, step.run, step.key, step.occurrence)
            if current is not None and current.state is StepState.DONE:
                return False
            is_lost = current is not None and current.owner != step.owner
            if is_lost and step.state is not StepState.DONE:
                # Another process runs it now; only a complete answer takes precedence.
                return False
            started_at = current.started_at if current is not None else transaction.now
            if current is not None and current.state is StepState.RUNNING:
                step = _add_earlier_usage(step, current)
            final_step = msgspec.structs.replace(
                step,
                attempts=max(step.attempts, current.attempts if current is not None else 1),
                started_at=started_at,
                ended_at=transaction.now,
                lease_until=0.0,
            )
            _write_step(transaction, final_step)
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
        """Return the usage of a run, or of all runs of a session."""
        column, value = ("id", run) if run else ("session", session)
        with self._connection.transaction() as transaction:
            return _usage(transaction, column, value)

    def find_done(self, key: str, occurrence: int, session: str) -> StepRecord | None:
        """Return the newest finished step with this key in the session's runs, or None."""
        columns = ", ".join(f"s.{name}" for name in STEP_COLUMNS)
        with self._connection.transaction() as transaction:
            rows = transaction.execute(
                f"SELECT {columns} FROM workflow_step s JOIN workflow_run r ON r.id = s.run "
                "WHERE s.key = ? AND s.occurrence = ? AND s.state = 'done' AND r.session = ? "
                "ORDER BY s.ended_at DESC LIMIT 1",
                (key, occurrence, session),
            )
        return _as_step(rows[0]) if rows else None


def _runs_elsewhere(step: StepRecord, owner: str, now: float) -> bool:
    """Return whether another live process runs the step."""
    is_running = step.state is StepState.RUNNING and step.owner != owner
    return is_running and step.lease_until > now and not is_gone(step.owner)


def _run(transaction: Transaction, run: str) -> RunRecord | None:
    rows = transaction.execute(f"SELECT {_RUN} FROM workflow_run WHERE id = ?", (run,))
    return _as_run(rows[0]) if rows else None


def _step(transaction: Transaction, run: str, key: str, occurrence: int) -> StepRecord | None:
    rows = transaction.execute(
        f"SELECT {_STEP} FROM workflow_step WHERE {_PLACE}", (run, key, occurrence)
    )
    return _as_step(rows[0]) if rows else None


def _usage(transaction: Transaction, column: str, value: str) -> WorkflowUsage:
    agents = transaction.execute(
        f"SELECT COALESCE(SUM(agents), 0) FROM workflow_run WHERE {column} = ?", (value,)
    )
    rows = transaction.execute(
        "SELECT COALESCE(SUM(tokens), 0), COALESCE(SUM(cost_usd), 0), "
        "COALESCE(SUM(CASE WHEN cost_usd IS NULL AND tokens > 0 THEN 1 ELSE 0 END), 0) "
        f"FROM workflow_step WHERE run IN (SELECT id FROM workflow_run WHERE {column} = ?)",
        (value,),
    )
    tokens, cost, unpriced_count = (float(each or 0) for each in rows[0])
    count = int(agents[0][0] or 0)
    return WorkflowUsage(count, int(tokens), cost, is_cost_known=unpriced_count == 0)


def _add_earlier_usage(step: StepRecord, earlier: StepRecord) -> StepRecord:
    """Return an ended attempt with the usage of earlier attempts added."""
    costs = [cost for cost in (step.cost_usd, earlier.cost_usd) if cost is not None]
    return msgspec.structs.replace(
        step, tokens=step.tokens + earlier.tokens, cost_usd=sum(costs) if costs else None
    )


def _write_step(transaction: Transaction, step: StepRecord) -> None:
    values = [_storable(getattr(step, name)) for name in STEP_COLUMNS]
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


def _as_run(row: tuple[Value, ...]) -> RunRecord:
    return _convert_row(dict(zip(RUN_COLUMNS, row, strict=True)), RunRecord)


def _as_step(row: tuple[Value, ...]) -> StepRecord:
    return _convert_row(dict(zip(STEP_COLUMNS, row, strict=True)), StepRecord)


def _convert_row(values: dict[str, Value], kind: type[_Record]) -> _Record:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise JournalError(f"a record of the journal cannot be read: {error}") from error


def _storable(value: object) -> Value:
    if isinstance(value, str):
        # Characters that databases reject must not lose a result of an agent, script or endpoint.
        return str(without_surrogates(str(value))).replace("\0", "\ufffd")
    assert value is None or isinstance(value, (int, float))
    return value
