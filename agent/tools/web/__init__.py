"""Pages of the public web, fetched from checked addresses."""
