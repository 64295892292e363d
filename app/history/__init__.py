"""What a run did: its trace, and later the runs before it."""
