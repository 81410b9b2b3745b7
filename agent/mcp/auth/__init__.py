"""Signing in to a server: tokens on disk, the browser's way back, who has to sign in."""
