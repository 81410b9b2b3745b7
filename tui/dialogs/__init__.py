"""Dialogs: what they show is made of rows by pure functions, one panel widget shows them all."""
