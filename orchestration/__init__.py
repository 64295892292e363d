"""How a run is hosted: driven, observed, given tools and settings. Knows no Qt."""
