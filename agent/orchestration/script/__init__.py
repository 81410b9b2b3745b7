"""Workflow scripts: JavaScript in a confined process of its own."""
