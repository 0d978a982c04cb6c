"""The databases that can hold an index: SQLite and PostgreSQL."""
