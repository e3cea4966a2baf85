"""Orbax writes a checkpoint every 25 steps, asynchronously as its documents show, while a thread prefetches batches
to the device. The thread takes several times as long for a batch as the device for a step: the input is what
is slow."""
import queue
import tempfile
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp

STEPS = 200

folder = tempfile.TemporaryDirectory()
manager = ocp.CheckpointManager(
    folder.name, options=ocp.CheckpointManagerOptions(max_to_keep=2, save_interval_steps=25))
optimizer = optax.adam(1e-3)
params = {f"w{i}": jnp.asarray(np.random.RandomState(i).randn(256, 256).astype(np.float32) * 0.05) for i in range(4)}
state = optimizer.init(params)


@jax.jit
def step(params, state, x):
    def loss_of(params):
        y = x
        for i in range(4):
            y = jnp.tanh(y @ params[f"w{i}"])
        return jnp.mean((y - 1) ** 2)

    loss, gradient = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, loss


batches = queue.Queue(4)


def load():
    random = np.random.RandomState(0)
    for _ in range(STEPS):
        time.sleep(0.02)
        batches.put(jax.device_put(random.rand(64, 256).astype(np.float32)))


threading.Thread(target=load, daemon=True).start()
for i in range(STEPS):
    params, state, loss = step(params, state, batches.get())
    manager.save(i, args=ocp.args.StandardSave({"params": params, "state": state}))
    if i % 50 == 49:
        print(f"step {i}: loss {float(loss):.5f}", flush=True)
manager.wait_until_finished()
manager.close()
folder.cleanup()
