"""Everything a person keeps: workflows, projects, saved agents, examples and templates."""
