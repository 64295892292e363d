"""Small things that every part of the window uses."""
