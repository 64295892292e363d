"""What the user has set, where secrets are, and whether a provider is ready."""
