"""WHAT IS TRUE: what a plan is, and what follows from what is known. Pure."""
