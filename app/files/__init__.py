"""The files tab: the execution folder as a tree, and files to read."""
