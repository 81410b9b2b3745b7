"""Small files read and written safely: bounded, private, watched."""
