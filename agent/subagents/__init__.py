"""Agents inside an agent."""
