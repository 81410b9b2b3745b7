"""The model seam: client protocol, the Messages API implementation, and a scripted server."""
