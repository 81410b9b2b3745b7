"""Google's `generateContent`: pure conversion of requests and streams."""
