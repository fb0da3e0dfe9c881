"""WHO PLANS: plug-ins, blind to each other."""
