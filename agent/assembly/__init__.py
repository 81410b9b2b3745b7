"""The composition root, and the builders of the parts that it connects."""
