"""The versions, oldest first by their revision."""
