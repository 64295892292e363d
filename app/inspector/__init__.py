"""The panel at the right: forms over the selected node and over the workflow."""
