"""The demo model that runs on the user's own computer."""
