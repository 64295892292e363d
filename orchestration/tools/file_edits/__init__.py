"""Change files by bytes: planned whole, shown, written safely, and undone."""
