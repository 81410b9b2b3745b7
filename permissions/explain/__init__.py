"""Decisions in words, in the audit log, and replayed."""
