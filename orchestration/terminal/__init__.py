"""A person's own shell on a pseudo-terminal."""
