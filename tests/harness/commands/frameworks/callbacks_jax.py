"""A JAX program that calls back to Python and into LAPACK, and prints what came of it, as JSON: the
same as on JAX's own CPU client. WHAT is callbacks, lapack, or devices (and how they are asked for)."""
import json
import os
import sys

what, how = sys.argv[1], sys.argv[2:]
if "flag" in how:
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax

if "config" in how:
    jax.config.update("jax_num_cpu_devices", 8)
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback


def back(make, shape, dtype=np.float32):
    """Whether a callback's result arrives as it is."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    call = jax.jit(lambda x: jax.pure_callback(make, jax.ShapeDtypeStruct(shape, dtype), x))
    return np.array_equal(np.asarray(call(x)), make(x))


def results():
    """Results that do not lie in memory as XLA wants them."""
    return {
        "plain": back(lambda x: np.asarray(x) * 2, (3, 4)),
        "transposed": back(lambda x: (np.asarray(x) * 2).T, (4, 3)),
        "a column": back(lambda x: np.asarray(x)[:, :1], (3, 1)),
        "a row by columns": back(lambda x: np.ones((1, 4), np.float32, order="F"), (1, 4)),
        "reversed": back(lambda x: np.asarray(x)[::-1, ::-2], (3, 2)),
        "empty": back(lambda x: np.zeros((3, 0), np.float32), (3, 0)),
        "one value": back(lambda x: np.float32(3), ()),
        "broadcast": back(lambda x: np.broadcast_to(np.float32(3), (5, 7)), (5, 7)),
        "complex": back(lambda x: (np.asarray(x) * 1j).astype(np.complex64).T, (4, 3), np.complex64),
    }


def loop():
    """Steps that wait for each other, so that a call returns before its callbacks run."""
    seen = {"ordered": [], "unordered": [], "debug": []}

    @jax.jit
    def step(w, x):
        x = jax.pure_callback(lambda x: np.asarray(x) * np.float32(1.5), jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - 1) ** 2))(w)
        io_callback(lambda v: seen["ordered"].append(float(v)), None, loss, ordered=True)
        io_callback(lambda v: seen["unordered"].append(float(v)), None, loss, ordered=False)
        jax.debug.callback(lambda v: seen["debug"].append(float(v)), loss)
        jax.debug.print("loss {}", loss)
        return w - 0.1 * gradient, loss

    w, own = jnp.ones((64, 64)) * 0.01, []
    for i in range(40):
        w, loss = step(w, np.random.RandomState(i).rand(16, 64).astype(np.float32))
        own.append(loss)
    jax.effects_barrier()
    own = [float(loss) for loss in own]
    return {"ordered": seen["ordered"] == own, "unordered": sorted(seen["unordered"]) == sorted(own),
            "debug": sorted(seen["debug"]) == sorted(own), "losses": own}


def raises():
    """Whether a callback's exception arrives."""
    def fail(x):
        raise ValueError("of the callback")
    try:
        back(fail, ())
    except Exception as error:
        return "of the callback" in str(error)
    return False


def lapack():
    a = np.random.RandomState(0).rand(6, 6).astype(np.float32)
    q, r = jax.jit(jnp.linalg.qr)(a)
    positive = a @ a.T + np.eye(6, dtype=np.float32)
    near = lambda x, y: bool(np.abs(np.asarray(x) - y).max() < 1e-4)
    return {
        "qr": near(q @ r, a),
        "svd": near(jnp.linalg.svd(a)[1], np.linalg.svd(a)[1]),
        "eigh": near(jnp.linalg.eigh(positive)[0], np.linalg.eigh(positive)[0]),
        "cholesky": near(jnp.linalg.cholesky(positive), np.linalg.cholesky(positive)),
        "solve": near(jnp.linalg.solve(positive, a[0]), np.linalg.solve(positive, a[0])),
        "eig": near(np.sort(np.abs(np.asarray(jnp.linalg.eig(a)[0]))), np.sort(np.abs(np.linalg.eig(a)[0]))),
        "fft": near(jnp.fft.fft(a), np.fft.fft(a)),
    }


if what == "callbacks":
    said = {"results": results(), "loop": loop(), "raises": raises()}
elif what == "lapack":
    said = lapack()
else:
    said = {"devices": jax.device_count()}
sys.stdout.flush()
print()
print(json.dumps(said))
