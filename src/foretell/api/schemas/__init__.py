"""What comes in, checked; and what goes out, described for OpenAPI."""
