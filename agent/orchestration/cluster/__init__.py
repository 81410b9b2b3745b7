"""Agents of a run on several machines: a queue in the Postgres that has the journal."""
