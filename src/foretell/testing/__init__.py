"""Shipped: what every implementation of a port must hold, for those who write one."""
