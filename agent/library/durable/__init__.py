"""Runs that go on in another process where one was killed, over DBOS."""
