"""A step calls back into Python three times: pure_callback, debug.print now and then, and an ordered io_callback."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

seen = []


def augment(x):
    time.sleep(0.002)
    return np.asarray(x) * np.float32(1.01)


def log(loss):
    seen.append(float(loss))


@jax.jit
def step(w, x, i):
    x = jax.pure_callback(augment, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - 1) ** 2))(w)
    jax.lax.cond(i % 50 == 0, lambda: jax.debug.print("step {} loss {}", i, loss), lambda: None)
    io_callback(log, None, loss, ordered=True)
    return w - 0.1 * gradient, loss


w = jnp.ones((256, 256)) * 0.01
for i in range(300):
    x = np.random.RandomState(i).rand(64, 256).astype(np.float32)
    w, loss = step(w, x, i)
jax.effects_barrier()
print(len(seen), seen[-1], float(loss))
