"""Postgres: tables by migration, queries as named SQL, rows to domain values and back."""
