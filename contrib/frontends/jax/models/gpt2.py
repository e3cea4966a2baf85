"""GPT-2 as transformers builds it: learned positions, norms before each part, the table of words as
the output layer. Weights of its linear layers are (in, out) in checkpoints (Radford et al., Language
Models are Unsupervised Multitask Learners, 2019)."""

import jax.numpy as jnp
import numpy as np

from layers import (
    Plan, attention, cached_attention, decode_end, decode_state, decode_token, gelu_tanh, split_heads, token_loss)

loss = token_loss

EPSILON = 1e-5
DROPOUT = 0.1  # of embeddings, attention weights, outputs of both parts of a block
HIDDEN = -float("inf")  # the score of a later token


def _conv1d(plan_, name, inner, out):
    plan_.add(name + ".weight", (inner, out))
    plan_.add(name + ".bias", (out,))


def plan(variant):
    sizes, p = variant.sizes, Plan()
    width = sizes["width"]
    p.embedding("transformer.wte", sizes["vocabulary"], width)
    p.embedding("transformer.wpe", sizes["positions"], width)
    for i in range(sizes["layers"]):
        name = f"transformer.h.{i}."
        p.norm(name + "ln_1", width)
        _conv1d(p, name + "attn.c_attn", width, 3 * width)
        _conv1d(p, name + "attn.c_proj", width, width)
        p.norm(name + "ln_2", width)
        _conv1d(p, name + "mlp.c_fc", width, 4 * width)
        _conv1d(p, name + "mlp.c_proj", 4 * width, width)
    p.norm("transformer.ln_f", width)
    return p


def _heads(run, name, x, heads):
    """Heads (B, T, N, E) of queries, keys and values."""
    qkv = run.linear(name + "attn.c_attn", run.layer_norm(name + "ln_1", x, EPSILON))  # (B, T, 3 D)
    return (split_heads(part, heads) for part in jnp.split(qkv, 3, axis=2))


def _rest(run, name, x, attended):
    """What follows the attention of a block."""
    x = x + run.dropout(run.linear(name + "attn.c_proj", attended), DROPOUT)
    y = gelu_tanh(run.linear(name + "mlp.c_fc", run.layer_norm(name + "ln_2", x, EPSILON)))
    return x + run.dropout(run.linear(name + "mlp.c_proj", y), DROPOUT)


def _block(run, name, x, heads, seen):
    q, k, v = _heads(run, name, x, heads)
    return _rest(run, name, x, attention(run, q, k, v, seen, HIDDEN, DROPOUT))


def forward(run, variant, batch):
    ids, sizes = batch["input_ids"], variant.sizes
    tokens = ids.shape[1]
    words = run.p["transformer.wte.weight"]  # (V, D)
    x = run.embedding("transformer.wte", ids) + run.p["transformer.wpe.weight"][:tokens]  # (B, T, D)
    x = run.dropout(x, DROPOUT)
    seen = np.tril(np.ones((1, 1, tokens, tokens), bool))
    for i in range(sizes["layers"]):
        x = _block(run, f"transformer.h.{i}.", x, sizes["heads"], seen)
    x = run.layer_norm("transformer.ln_f", x, EPSILON)
    return jnp.einsum("btd,vd->btv", x, words)


def decode_begin(variant, batch, context, dtype):
    """The state before the first step that decodes."""
    sizes = variant.sizes
    shape = (batch, context, sizes["heads"], sizes["width"] // sizes["heads"])
    return decode_state(shape, sizes["layers"], dtype)


def decode(run, variant, batch, state):
    """One token of each row: its logits (B, 1, V), and the next state."""
    prompt, position, sizes = batch["input_ids"], state["position"], variant.sizes
    words = run.p["transformer.wte.weight"]  # (V, D)
    x = run.embedding("transformer.wte", decode_token(state, prompt))[:, None]  # (B, 1, D)
    x = x + run.p["transformer.wpe.weight"][position]
    caches = []
    for i in range(sizes["layers"]):
        name = f"transformer.h.{i}."
        q, k, v = _heads(run, name, x, sizes["heads"])
        y, cache = cached_attention(q, k, v, state["caches"][i], position)
        caches.append(cache)
        x = _rest(run, name, x, y)
    x = run.layer_norm("transformer.ln_f", x, EPSILON)
    logits = jnp.einsum("btd,vd->btv", x, words)
    return logits, decode_end(state, caches, prompt, logits[:, 0])
