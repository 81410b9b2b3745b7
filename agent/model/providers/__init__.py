"""Other providers behind the seam: which there are, how a name finds one, one client for all."""
