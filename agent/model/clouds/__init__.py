"""Claude on Bedrock, Vertex and Foundry, through the vendor's client classes."""
