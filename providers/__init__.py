"""How OpenFlow talks to models: profiles, wire mappings and adapters."""
