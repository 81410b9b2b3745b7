"""Shell commands as child processes: started, read, stopped."""
