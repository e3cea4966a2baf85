"""In place of jax/examples as a package: its data sets."""
