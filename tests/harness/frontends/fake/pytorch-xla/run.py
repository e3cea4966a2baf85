import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import front

sys.exit(front.main("pytorch-xla"))
