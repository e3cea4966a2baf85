"""A serving loop: batches of varying sizes, each of which is another program; with "pad" they are padded to the next
power of two.

    serving.py [pad]
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np

pad = "pad" in sys.argv
random = np.random.default_rng(0)
weights = [jnp.asarray(random.standard_normal((512, 512)).astype(np.float32) * 0.04) for _ in range(4)]


@jax.jit
def forward(weights, x):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return jax.nn.softmax(x, -1)


for _ in range(400):
    n = int(random.integers(1, 33))
    x = random.standard_normal((n, 512)).astype(np.float32)
    if pad:
        x = np.pad(x, ((0, (1 << (n - 1).bit_length()) - n), (0, 0)))
    y = np.asarray(forward(weights, x))[:n]
print(f"sum {y.sum():.6f}")
