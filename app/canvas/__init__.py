"""The picture of the workflow."""
