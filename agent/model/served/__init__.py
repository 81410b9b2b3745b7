"""Tools that run at the endpoint, and code there that calls ours."""
