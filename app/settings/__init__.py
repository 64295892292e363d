"""The settings: a view over the whole window, one page a file."""
