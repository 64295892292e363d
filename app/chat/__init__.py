"""The conversation of a run."""
