"""Stands for the script that makes text of programs: its "byte code" is the text behind the first 4 bytes. What the
text begins with says how it fails."""
import os
import signal
import sys

code = sys.stdin.buffer.read()
text = code[4:] if code.startswith(b"ML\xefR") else b"module {\n  func.func @main() {\n    return\n  }\n}\n"
if text.startswith(b"absent"):
    print("no module jaxlib", file=sys.stderr)
    sys.exit(3)
if text.startswith(b"damaged"):
    print("a long story\n\nValueError: not a\x1b[31m version\n", file=sys.stderr)
    sys.exit(1)
if text.startswith(b"crash"):
    os.kill(os.getpid(), signal.SIGSEGV)
if text.startswith(b"large"):
    while True:
        os.write(1, b" " * (1 << 20))
sys.stdout.buffer.write(text)
