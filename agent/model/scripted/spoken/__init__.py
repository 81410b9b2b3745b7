"""The scripted server in other dialects: reads requests, checks them strictly, encodes answers."""
