"""Before the steps: what happens to a pull request becomes plans of its head."""

from foretell.engine.pull_request.follow import MEMORY, pull_request
from foretell.engine.pull_request.tools import Tools

__all__ = ["MEMORY", "Tools", "pull_request"]
