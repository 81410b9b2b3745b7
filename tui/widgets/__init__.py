"""The base class of widgets that draw rows."""
