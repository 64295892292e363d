"""The terminal tab: a screen that understands what programs print, and a view of it."""
