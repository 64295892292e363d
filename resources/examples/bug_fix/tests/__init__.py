"""Tests of the shop: run them with `python3 -m unittest`."""
