"""A report of one run as a single file."""
