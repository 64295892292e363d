"""The trace tab: a timeline of a run, the same as a list, and the details of each part."""
