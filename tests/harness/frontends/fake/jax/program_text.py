"""Stands for the script that makes text of programs: its "byte code" is the text behind the first 4 bytes, and of HLO
it shows the digest. What the text begins with says how it fails."""
import hashlib
import os
import signal
import sys
import time

code = sys.stdin.buffer.read()
text = code[4:]
if not code.startswith(b"ML\xefR"):
    text = f"// {hashlib.sha256(code).hexdigest()}\nmodule {{\n  func.func @main() {{\n    return\n  }}\n}}\n".encode()
if text.startswith(b"absent"):
    print("no jaxlib", file=sys.stderr)
    sys.exit(3)
if text.startswith(b"damaged"):
    print("a long story\n\nValueError: not a\x1b[31m version\n", file=sys.stderr)
    sys.exit(1)
if text.startswith(b"crash"):
    os.kill(os.getpid(), signal.SIGSEGV)
if text.startswith(b"sleep"):
    time.sleep(3600)
while text.startswith(b"work"):
    pass
if text.startswith(b"large"):
    while True:
        os.write(1, b" " * (1 << 20))
sys.stdout.buffer.write(text)
