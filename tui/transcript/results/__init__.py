"""Reads facts from results for cards: sizes, test counts, images."""
