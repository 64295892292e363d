"""A small program with a planted bug, for the example workflow that finds and corrects it."""
