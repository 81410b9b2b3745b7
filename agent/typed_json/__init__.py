"""Converts JSON from users and models to records, by the types of their fields."""
