"""Decisions about tool calls: what is shown of a call, and the buttons that decide it."""
