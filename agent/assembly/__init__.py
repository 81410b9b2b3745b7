"""The composition root and the parts it wires."""
