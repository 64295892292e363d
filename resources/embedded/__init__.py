"""What the embedded model is given besides its weights."""
