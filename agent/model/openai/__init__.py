"""OpenAI's two dialects, Responses and Chat Completions: requests out, streams in, both pure."""
