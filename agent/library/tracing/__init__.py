"""Traces and spans of runs."""
