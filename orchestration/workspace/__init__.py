"""The execution folder and its borders."""
