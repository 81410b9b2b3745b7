"""Stores the answers of finished workflow steps, so that no finished work is repeated."""
