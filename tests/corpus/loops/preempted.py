"""Most of a step is work in Python, without a sleep or a loader, longer than a scheduler's turn. It is run while other processes have the same
cores (`busy` in programs.json): what is slow is that the thread waits for a core."""
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - 1) ** 2))(w)
    return w - 0.1 * gradient, loss


w = jnp.ones((256, 256)) * 0.01
batch = np.random.RandomState(0).rand(64, 256).astype(np.float32)


def augment():
    s = 0
    for i in range(300000):
        s += i
    return batch


for i in range(300):
    w, loss = step(w, augment())
    loss.block_until_ready()
print(f"loss {float(loss):.5f}")
