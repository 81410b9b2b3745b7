"""Decisions in words, in the audit log, and decided again."""
