"""Steps are handed over without waiting, as Keras's fit and most examples of JAX do; the epoch's metric is read
at its end, then a few batches are evaluated.

    async_epochs.py [EPOCHS STEPS EVALUATIONS]    without evaluations the last loss alone is read
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np

epochs, steps, evaluations = [int(a) for a in sys.argv[1:4] or (4, 36, 4)]


@jax.jit
def train_step(w, x):
    def loss_of(w):
        y = x
        for _ in range(6):
            y = jnp.tanh(y @ w)
        return jnp.mean((y - 1) ** 2)

    loss, gradient = jax.value_and_grad(loss_of)(w)
    return w - 0.1 * gradient, loss


@jax.jit
def test_step(w, x):
    return jnp.mean((jnp.tanh(x @ w) - 1) ** 2)


w = jnp.ones((512, 512)) * 0.01
batches = np.random.RandomState(0).rand(epochs * steps, 256, 512).astype(np.float32)
k = 0
for epoch in range(epochs):
    losses = []
    for _ in range(steps):
        w, loss = train_step(w, batches[k])
        losses.append(loss)
        k += 1
    metric = float(jnp.stack(losses).mean()) if evaluations else float(loss)
    tested = [float(test_step(w, batches[i])) for i in range(evaluations)]
    print(f"epoch {epoch}: loss {metric:.5f}, tested {np.mean(tested) if tested else np.nan:.5f}", flush=True)
