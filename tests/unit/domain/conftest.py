"""Laws are tried on busy machines too: how long one example takes says nothing."""

from hypothesis import settings

settings.register_profile("laws", deadline=None, max_examples=60)
settings.load_profile("laws")
