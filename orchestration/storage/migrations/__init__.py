"""How the tables came to be: one file a version of the database, run by Alembic."""
