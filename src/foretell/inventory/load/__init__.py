"""Files -> inventory, with an error for everything that is wrong, each with file, line and field.

The shape is `docs/reference/inventory.md`.
"""

from foretell.inventory.load.read import LoadedInventory, inventory_files, load, parse

__all__ = ["LoadedInventory", "inventory_files", "load", "parse"]
