"""Everything that outlives the program: runs, their facts and events, in one database."""
