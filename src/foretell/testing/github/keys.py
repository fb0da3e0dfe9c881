"""Private keys of Apps, as GitHub hands them out."""

from functools import lru_cache

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


@lru_cache
def app_key(number: int = 0) -> str:
    """An RSA key in PEM form; the same for the same number, within this run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def public_key(private: str) -> str:
    """What GitHub keeps of it."""
    key = serialization.load_pem_private_key(private.encode(), None)
    return (
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )
