"""The scripted server in other dialects: requests read, checked as strictly as there, answered."""
