"""Workflows to begin with."""
