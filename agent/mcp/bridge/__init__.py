"""A server's tools as tools of ours: schemas, results, limits."""
