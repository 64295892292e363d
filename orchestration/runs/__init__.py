"""Runs from start to end: preparation, drive loop, events, journal and projection."""
