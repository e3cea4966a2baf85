"""In place of the module of this name in jax/examples."""
from datasets import mnist  # noqa: F401
