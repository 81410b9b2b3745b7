"""Google's `generateContent`: requests out, streams in, both pure."""
