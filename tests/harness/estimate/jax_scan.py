"""A training step of llama in JAX, its layers unrolled or as one lax.scan over stacked layers: what
full_estimate.sh records and holds our own loop against.

  jax_scan.py --depth N --scan off|on [--steps N] [--batch N] [--seq N] [--vocabulary N] [--width N]
              [--heads N] [--key-heads N] [--feed N]

Sizes are by default those of models/llama.c, and what is computed is that of models/decoder.c: RMS
norms, rotary embedding, heads of keys that serve several of queries, SwiGLU, AdamW. Loss, attention and
optimizer are the front end's. Prints {"parameters", "losses"}."""
import argparse
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "contrib/frontends/jax"))
from layers import Run, attention, split_heads, token_loss  # noqa: E402
from optimizers import adamw, adamw_begin  # noqa: E402

EPSILON, THETA, RATE = 1e-6, 1e4, 1e-4
WITHOUT_DROPOUT = Run({}, {}, True)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--scan", choices=("off", "on"), required=True)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=64)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--key-heads", type=int, default=4)
    parser.add_argument("--feed", type=int, default=688)
    return parser.parse_args()


def layer_shapes(o):
    keys = o.width // o.heads * o.key_heads
    return {"input_layernorm": (o.width,), "q_proj": (o.width, o.width), "k_proj": (o.width, keys),
            "v_proj": (o.width, keys), "o_proj": (o.width, o.width),
            "post_attention_layernorm": (o.width,), "gate_proj": (o.width, o.feed),
            "up_proj": (o.width, o.feed), "down_proj": (o.feed, o.width)}


def shapes(o):
    """Of all parameters. One of a stack has the layers first."""
    all_of = {"embed_tokens": (o.vocabulary, o.width), "norm": (o.width,), "lm_head": (o.width, o.vocabulary)}
    for name, shape in layer_shapes(o).items():
        if o.scan == "on":
            all_of["layers/" + name] = (o.depth, *shape)
        else:
            all_of.update({f"layers.{i}/{name}": shape for i in range(o.depth)})
    return all_of


def make(random, name, shape):
    """Norms begin with 1, all else is small."""
    if name.endswith("norm"):
        return jnp.ones(shape, jnp.float32)
    return jnp.asarray(random.standard_normal(shape, np.float32) * 0.02)


def rms_norm(x, weight):
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + EPSILON) * weight


def rotate(x, cosines, sines):
    """X (B, T, N, E): the halves of each head turn with each other."""
    first, second = jnp.split(x, 2, axis=-1)
    return x * cosines + jnp.concatenate([-second, first], axis=-1) * sines


def layer_step(o, shared, x, p):
    cosines, sines, seen = shared
    y = rms_norm(x, p["input_layernorm"])
    q = rotate(split_heads(y @ p["q_proj"], o.heads), cosines, sines)
    k = rotate(split_heads(y @ p["k_proj"], o.key_heads), cosines, sines)
    v = split_heads(y @ p["v_proj"], o.key_heads)
    k, v = (jnp.repeat(z, o.heads // o.key_heads, axis=2) for z in (k, v))
    x = x + attention(WITHOUT_DROPOUT, q, k, v, seen, -jnp.inf) @ p["o_proj"]
    y = rms_norm(x, p["post_attention_layernorm"])
    return x + (jax.nn.silu(y @ p["gate_proj"]) * (y @ p["up_proj"])) @ p["down_proj"]


def shared_of(o):
    """What all layers share: cosines and sines of the tokens' angles, and which tokens a token sees."""
    pairs = o.width // o.heads // 2
    frequencies = jnp.asarray(THETA ** -(np.arange(pairs) / pairs), jnp.float32)
    angles = jnp.arange(o.seq, dtype=jnp.float32)[:, None] * frequencies
    angles = jnp.concatenate([angles, angles], axis=-1)[:, None, :]  # (T, 1, E)
    return jnp.cos(angles), jnp.sin(angles), jnp.tril(jnp.ones((o.seq, o.seq), bool))


def loss_of(o, parameters, ids, labels):
    shared = shared_of(o)
    x = jnp.take(parameters["embed_tokens"], ids, axis=0, mode="clip")
    if o.scan == "on":
        stack = {name: parameters["layers/" + name] for name in layer_shapes(o)}
        x, _ = jax.lax.scan(lambda x, p: (layer_step(o, shared, x, p), None), x, stack)
    else:
        for i in range(o.depth):
            x = layer_step(o, shared, x, {n: parameters[f"layers.{i}/{n}"] for n in layer_shapes(o)})
    return token_loss(rms_norm(x, parameters["norm"]) @ parameters["lm_head"], labels)


def main():
    o, random = options(), np.random.default_rng(1)
    parameters = {name: make(random, name, shape) for name, shape in shapes(o).items()}
    ids, labels = (jnp.asarray(random.integers(0, o.vocabulary, (o.batch, o.seq)), jnp.int32) for _ in range(2))

    def train_step(state, ids, labels):
        loss, gradients = jax.value_and_grad(lambda p: loss_of(o, p, ids, labels))(state["parameters"])
        parameters, optimizer = adamw(RATE, state["parameters"], gradients, state["optimizer"])
        return {"parameters": parameters, "optimizer": optimizer}, loss

    step, losses = jax.jit(train_step, donate_argnums=0), []
    state = {"parameters": parameters, "optimizer": adamw_begin(parameters)}
    for _ in range(o.steps):
        state, loss = step(state, ids, labels)
        losses.append(jax.block_until_ready(loss))
    print(json.dumps({"parameters": sum(p.size for p in state["parameters"].values()),
                      "losses": [float(loss) for loss in losses]}))


main()
