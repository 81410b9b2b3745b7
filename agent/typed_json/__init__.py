"""JSON from users and models, read into records by the types of their fields."""
