"""The registry of tools and what runs their calls."""
