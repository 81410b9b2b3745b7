"""The base of widgets that draw rows."""
