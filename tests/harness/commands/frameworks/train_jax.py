"""A small training loop of JAX: the step as one program, as two, or its update op by op."""
import jax
import jax.numpy as jnp
import numpy as np

import loop

RATE = 1e-2


def loss_of(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return (x * x).mean()


def fused(weights, x):
    loss, slopes = jax.value_and_grad(loss_of)(weights, x)
    return [w - RATE * s for w, s in zip(weights, slopes)], loss


def main():
    o = loop.options(["fused", "two", "ops"])
    random = np.random.default_rng(1)
    shape = (o.size, o.size)
    state = {"weights": [jnp.asarray(random.standard_normal(shape, np.float32) / o.size ** 0.5)
                         for _ in range(o.layers)]}
    batches = [random.standard_normal(shape, np.float32) for _ in range(4)]
    whole = jax.jit(fused, donate_argnums=() if o.kept else 0)
    gradient = jax.jit(jax.value_and_grad(loss_of))
    update = jax.jit(lambda w, s: [a - RATE * b for a, b in zip(w, s)], donate_argnums=0)

    def step(number):
        x = jnp.asarray(batches[number % len(batches)][:loop.rows_of(o, number)])
        if o.way == "fused":
            state["weights"], loss = whole(state["weights"], x)
            return loss
        loss, slopes = gradient(state["weights"], x)
        if o.way == "two":
            state["weights"] = update(state["weights"], slopes)
        else:
            state["weights"] = [w - RATE * s for w, s in zip(state["weights"], slopes)]
        return loss

    loop.run(o, step, lambda loss: np.float32(float(loss)).tobytes(),
             lambda: [np.asarray(w).tobytes() for w in state["weights"]])


main()
