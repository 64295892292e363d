"""The frozen values and the protocols that all packages share."""
