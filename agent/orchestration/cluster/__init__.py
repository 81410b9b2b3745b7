"""Agents of a run on several machines: a queue in the Postgres database of the journal."""
