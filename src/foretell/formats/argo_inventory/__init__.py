"""An inventory from what a server of Argo CD has, and which of it a change of files can reach.

Pure: somebody else asks the server and the repository.
"""

from foretell.formats.argo_inventory.application import Application, Source, read_application
from foretell.formats.argo_inventory.documents import TOKEN_VARIABLE, identifier, inventory
from foretell.formats.argo_inventory.reach import Change, Chosen, choose
from foretell.formats.argo_inventory.tree import Tree

__all__ = [
    "TOKEN_VARIABLE",
    "Application",
    "Change",
    "Chosen",
    "Source",
    "Tree",
    "choose",
    "identifier",
    "inventory",
    "read_application",
]
