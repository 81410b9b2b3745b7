"""Runs that continue in another process after theirs was killed, based on DBOS."""
