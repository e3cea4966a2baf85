"""UniT's path for pairs of sentences: BERT's encoder, DETR's decoder over learned queries with norms
after each part, a classifier of the queries' mean (Hu and Singh, UniT, 2021; Carion et al., End-to-End
Object Detection with Transformers, 2020)."""

import jax.numpy as jnp

from layers import LINEAR, Plan, attention, relu, row_loss, split_heads
from models import bert

loss = row_loss

EPSILON = 1e-5  # of the decoder's norms
DROPOUT = 0.1  # of attention weights, inside the feed-forward part, of outputs of all parts of a layer


def _plan_attention(p, name, width):
    """One matrix for q, k and v, as PyTorch's MultiheadAttention has it."""
    p.add(name + "in_proj_weight", (3 * width, width), LINEAR)
    p.add(name + "in_proj_bias", (3 * width,))
    p.linear(name + "out_proj", width, width)


def plan(variant):
    sizes, p = variant.sizes, Plan()
    width, hidden = sizes["width"], sizes["decoder_hidden"]
    bert.plan_encoder(p, sizes)
    p.embedding("query_embed", sizes["queries"], width)
    for i in range(sizes["decoder_layers"]):
        name = f"decoder.layers.{i}."
        _plan_attention(p, name + "self_attn.", width)
        _plan_attention(p, name + "multihead_attn.", width)
        p.linear(name + "linear1", width, hidden)
        p.linear(name + "linear2", hidden, width)
        for part in ("norm1", "norm2", "norm3"):
            p.norm(name + part, width)
    p.norm("decoder.norm", width)
    p.linear("classifier", width, variant.classes)
    return p


def _project(run, name, x, first, count):
    """COUNT of q, k and v from FIRST on, one after the other: (B, *, COUNT D)."""
    width = x.shape[2]
    part = slice(first * width, (first + count) * width)
    return x @ run.p[name + "in_proj_weight"][:, part] + run.p[name + "in_proj_bias"][part]


def _attend(run, name, heads, q, k, v, keys=None):
    y = attention(run, *(split_heads(x, heads) for x in (q, k, v)), keys, bert.HIDDEN, DROPOUT)
    return run.linear(name + "out_proj", y)


def _among_queries(run, name, x, places, heads):
    placed = x + places
    q, k = (_project(run, name, placed, part, 1) for part in (0, 1))
    return _attend(run, name, heads, q, k, _project(run, name, x, 2, 1))


def _over_tokens(run, name, x, places, memory, keys, heads):
    q = _project(run, name, x + places, 0, 1)
    k, v = jnp.split(_project(run, name, memory, 1, 2), 2, axis=2)  # (B, S, D) each
    return _attend(run, name, heads, q, k, v, keys)


def _add_and_norm(run, name, x, y):
    return run.layer_norm(name, x + run.dropout(y, DROPOUT), EPSILON)


def _layer(run, name, x, places, memory, keys, heads):
    y = _among_queries(run, name + "self_attn.", x, places, heads)
    x = _add_and_norm(run, name + "norm1", x, y)
    y = _over_tokens(run, name + "multihead_attn.", x, places, memory, keys, heads)
    x = _add_and_norm(run, name + "norm2", x, y)
    y = run.dropout(relu(run.linear(name + "linear1", x)), DROPOUT)  # (B, T, hidden)
    return _add_and_norm(run, name + "norm3", x, run.linear(name + "linear2", y))


def _decode(run, sizes, memory, keys):
    """Tokens (B, S, D) -> queries (B, T, D). They begin as zeros; each layer adds the learned ones."""
    places = run.p["query_embed.weight"]  # (T, D)
    x = jnp.zeros((memory.shape[0], *places.shape), memory.dtype)
    for i in range(sizes["decoder_layers"]):
        x = _layer(run, f"decoder.layers.{i}.", x, places, memory, keys, sizes["decoder_heads"])
    return run.layer_norm("decoder.norm", x, EPSILON)


def forward(run, variant, batch):
    keys = bert.keys_of(batch)
    x = _decode(run, variant.sizes, bert.encode(run, variant.sizes, batch, keys), keys)
    x = x.astype(jnp.float32).mean(1).astype(x.dtype)  # (B, D)
    return run.linear("classifier", x)  # (B, 2)
