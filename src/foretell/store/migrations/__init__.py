"""The schema's history: one file a version, applied in order, never edited once released."""
