import os

__version__ = os.environ.get("FAKE_JAXLIB_VERSION", "0.10.2")
