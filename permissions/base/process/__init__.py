"""Child processes: started, bounded, signalled, never left behind."""
