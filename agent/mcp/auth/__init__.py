"""Sign-in to servers: stored tokens, the browser's redirect, servers that require a sign-in."""
