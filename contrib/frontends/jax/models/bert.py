"""BERT that predicts masked tokens as transformers builds it: norms after each part, the decoder
tied to the table of words (Devlin et al., BERT, 2019)."""

import jax.numpy as jnp

from layers import Plan, attention, gelu, split_heads, token_loss

loss = token_loss

EPSILON = 1e-12
DROPOUT = 0.1  # of embeddings, attention weights, outputs of both parts of a layer
HIDDEN = float(jnp.finfo(jnp.float32).min)  # the score of a key that is padding

_EMBEDDINGS = "bert.embeddings."
_HEAD = "cls.predictions."


def plan_encoder(p, sizes):
    """Adds the tensors of the embeddings and layers to the Plan P."""
    width, hidden = sizes["width"], sizes["hidden"]
    p.embedding(_EMBEDDINGS + "word_embeddings", sizes["vocabulary"], width)
    p.embedding(_EMBEDDINGS + "position_embeddings", sizes["positions"], width)
    p.embedding(_EMBEDDINGS + "token_type_embeddings", 2, width)
    p.norm(_EMBEDDINGS + "LayerNorm", width)
    for i in range(sizes["layers"]):
        name = f"bert.encoder.layer.{i}."
        for part in ("query", "key", "value"):
            p.linear(name + "attention.self." + part, width, width)
        p.linear(name + "attention.output.dense", width, width)
        p.norm(name + "attention.output.LayerNorm", width)
        p.linear(name + "intermediate.dense", width, hidden)
        p.linear(name + "output.dense", hidden, width)
        p.norm(name + "output.LayerNorm", width)


def plan(variant):
    sizes, p = variant.sizes, Plan()
    width = sizes["width"]
    plan_encoder(p, sizes)
    p.add(_HEAD + "bias", (sizes["vocabulary"],))
    p.linear(_HEAD + "transform.dense", width, width)
    p.norm(_HEAD + "transform.LayerNorm", width)
    return p


def _embed(run, batch):
    ids = batch["input_ids"]
    x = run.embedding(_EMBEDDINGS + "word_embeddings", ids)  # (B, T, D)
    x = x + run.embedding(_EMBEDDINGS + "token_type_embeddings", batch["token_type_ids"])
    x = x + run.p[_EMBEDDINGS + "position_embeddings.weight"][:ids.shape[1]]
    return run.dropout(run.layer_norm(_EMBEDDINGS + "LayerNorm", x, EPSILON), DROPOUT)


def _layer(run, name, x, heads, keys):
    q, k, v = (split_heads(run.linear(f"{name}attention.self.{part}", x), heads)
               for part in ("query", "key", "value"))
    y = attention(run, q, k, v, keys, HIDDEN, DROPOUT)
    y = run.dropout(run.linear(name + "attention.output.dense", y), DROPOUT)
    x = run.layer_norm(name + "attention.output.LayerNorm", y + x, EPSILON)
    y = gelu(run.linear(name + "intermediate.dense", x))
    y = run.dropout(run.linear(name + "output.dense", y), DROPOUT)
    return run.layer_norm(name + "output.LayerNorm", y + x, EPSILON)


def keys_of(batch):
    """Which tokens are no padding, a mask of attention's scores: (B, 1, 1, T)."""
    return (batch["attention_mask"] != 0)[:, None, None, :]


def encode(run, sizes, batch, keys):
    """The encoder's tokens, (B, T, D); KEYS are those of keys_of."""
    x = _embed(run, batch)
    for i in range(sizes["layers"]):
        x = _layer(run, f"bert.encoder.layer.{i}.", x, sizes["heads"], keys)
    return x


def forward(run, variant, batch):
    x = encode(run, variant.sizes, batch, keys_of(batch))
    x = gelu(run.linear(_HEAD + "transform.dense", x))
    x = run.layer_norm(_HEAD + "transform.LayerNorm", x, EPSILON)
    words = run.p[_EMBEDDINGS + "word_embeddings.weight"]  # (V, D)
    return jnp.einsum("btd,vd->btv", x, words) + run.p[_HEAD + "bias"]
