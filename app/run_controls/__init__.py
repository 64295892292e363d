"""What stands around a run under way: its meters, its queue, and what can be changed in it."""
