"""YAML as Kubernetes reads it: neither YAML 1.1 nor YAML 1.2.

kubectl, Helm and the API server read YAML with `sigs.k8s.io/yaml`, a fork of go-yaml v2 whose
values then pass through Go's JSON. `scalar` holds its rules for one plain scalar, `reading` the
stream, `writing` the canonical text; `tests/real/test_yaml_oracle.py` holds all three to `helm`.
"""

from foretell.formats.yaml.reading import Document, Limits, load_documents
from foretell.formats.yaml.scalar import resolve
from foretell.formats.yaml.writing import Writer, dump

__all__ = ["Document", "Limits", "Writer", "dump", "load_documents", "resolve"]
