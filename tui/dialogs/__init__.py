"""Dialogs: pure functions make their rows, and one widget, `DialogHost`, shows all of them."""
