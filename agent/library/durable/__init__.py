"""Runs that continue in another process where one was killed, over DBOS."""
