"""The frozen values and the protocols that all packages share.

Values are trees of values and JSON, never cycles, so the cyclic garbage collector need not track
them (`gc=False`): a run makes very many.
"""
