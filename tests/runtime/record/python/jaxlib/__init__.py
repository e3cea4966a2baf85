"""Stands in for jaxlib: of its foreign functions only those that the fake plugin has."""
