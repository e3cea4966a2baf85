"""A small training loop of JAX: the step as one program, with its layers in a row or in a scan, as two
programs, or its update op by op; on one device, or on several, each of which has a part of the batch and all
weights."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import loop

RATE = 1e-2


def loss_of(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return (x * x).mean()


def scanned_loss_of(weights, x):
    return (jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, weights[0])[0] ** 2).mean()


def fused(weights, x, loss_of=loss_of):
    loss, slopes = jax.value_and_grad(loss_of)(weights, x)
    return [w - RATE * s for w, s in zip(weights, slopes)], loss


def places(count):
    """Where a batch and where everything else lies on COUNT devices; None: wherever JAX puts it."""
    if count == 1:
        return None, None
    devices = jax.devices()
    assert len(devices) >= count, f"there are {len(devices)} devices, not {count}"
    mesh = Mesh(np.array(devices[:count]), ("rows",))
    return NamedSharding(mesh, PartitionSpec("rows")), NamedSharding(mesh, PartitionSpec())


def main():
    o = loop.options(["fused", "two", "ops", "scan"], most_devices=64, sent=("plain", "turned", "early"))
    split, whole_of = places(o.devices)
    random = np.random.default_rng(1)
    state = {"weights": [jnp.asarray(random.standard_normal((o.size, o.size), np.float32) / o.size ** 0.5)
                         for _ in range(o.layers)]}
    batches = [random.standard_normal((o.rows, o.size), np.float32) for _ in range(4)]
    if o.sent == "turned":
        batches = [np.asfortranarray(batch) for batch in batches]
    # Nothing is said of places on one device: JAX then makes the program that it usually makes.
    put = {} if whole_of is None else {"out_shardings": whole_of}
    if whole_of is not None:
        state["weights"] = jax.device_put(state["weights"], whole_of)
    if o.way == "scan":
        state["weights"] = [jnp.stack(state["weights"])]
    whole = jax.jit(functools.partial(fused, loss_of=scanned_loss_of) if o.way == "scan" else fused,
                    donate_argnums=() if o.kept else 0, **put)
    gradient = jax.jit(jax.value_and_grad(loss_of), **put)
    update = jax.jit(lambda w, s: [a - RATE * b for a, b in zip(w, s)], donate_argnums=0, **put)

    def send(number):
        rows = batches[number % len(batches)][:loop.rows_of(o, number)]
        # asarray hands the rows to a program that copies them; device_put only sends them.
        return jnp.asarray(rows) if split is None and o.sent == "plain" else jax.device_put(rows, split)

    early = jax.block_until_ready([send(i) for i in range(len(batches))]) if o.sent == "early" else []

    def step(number):
        x = early[number % len(early)] if early else send(number)
        if o.way in ("fused", "scan"):
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
