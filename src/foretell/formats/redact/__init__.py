"""Keeping secrets out of everything that leaves: four nets, each for what the others miss.

By mark (`marks`): what the provider or the configuration calls sensitive. By schema: the same,
from `providers schema -json`. By name (`names`): `password`, `API_KEY`, a `value` beside
`name: DB_TOKEN`. By value (`values`): any text that holds a known secret, in any of the forms in
which it travels. `credentials` takes passwords out of URLs and headers that nobody told us about.
"""
