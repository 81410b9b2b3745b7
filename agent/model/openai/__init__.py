"""OpenAI's two dialects, Responses and Chat Completions: pure conversion."""
