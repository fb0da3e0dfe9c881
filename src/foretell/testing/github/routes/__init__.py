"""Everything that the fake answers."""

from foretell.testing.github.routes import apps, checks, comments, pulls

ROUTES = (*apps.ROUTES, *checks.ROUTES, *comments.ROUTES, *pulls.ROUTES)
