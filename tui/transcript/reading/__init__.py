"""Reading and searching the transcript."""
