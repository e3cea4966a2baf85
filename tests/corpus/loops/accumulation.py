"""Gradients of four batches are added up, then the parameters are updated: five executions of two programs a step."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS, PARTS = 200, 4

optimizer = optax.adam(1e-3)
params = {f"w{i}": jnp.asarray(np.random.RandomState(i).randn(256, 256).astype(np.float32) * 0.05) for i in range(4)}
state = optimizer.init(params)
gradients = jax.tree.map(jnp.zeros_like, params)


@jax.jit
def add_gradient(gradients, params, x):
    def loss_of(params):
        y = x
        for i in range(4):
            y = jnp.tanh(y @ params[f"w{i}"])
        return jnp.mean((y - 1) ** 2)

    loss, gradient = jax.value_and_grad(loss_of)(params)
    return jax.tree.map(jnp.add, gradients, gradient), loss


@jax.jit
def update(params, state, gradients):
    updates, state = optimizer.update(jax.tree.map(lambda g: g / PARTS, gradients), state, params)
    return optax.apply_updates(params, updates), state, jax.tree.map(jnp.zeros_like, gradients)


random = np.random.RandomState(0)
for i in range(STEPS):
    for _ in range(PARTS):
        gradients, loss = add_gradient(gradients, params, random.rand(64, 256).astype(np.float32))
    params, state, gradients = update(params, state, gradients)
    if i % 20 == 19:
        print(f"step {i}: loss {float(loss):.5f}", flush=True)
