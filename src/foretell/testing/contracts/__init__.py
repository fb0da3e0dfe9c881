"""One suite a port: subclass it, give it the implementation, run it with pytest."""
