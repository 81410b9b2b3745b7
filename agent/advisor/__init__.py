"""A second, stronger model that the working one asks for guidance where a decision is hard."""
