"""Child processes: started, bounded, signaled, never left behind."""
