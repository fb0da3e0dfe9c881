"""Foretell shows what a deployment will change before it does."""
