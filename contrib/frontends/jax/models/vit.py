"""Vision transformers as timm builds them: a class token before the patches, norms before attention
and feed-forward, no dropout (Dosovitskiy et al., An Image is Worth 16x16 Words, 2021)."""

import jax.numpy as jnp

from layers import CONV, Plan, attention, gelu, row_loss, split_heads

loss = row_loss

EPSILON = 1e-6


def plan(variant):
    sizes, p = variant.sizes, Plan()
    width, patch = sizes["width"], sizes["patch"]
    patches = (variant.image // patch) ** 2
    p.add("cls_token", (1, 1, width))
    p.add("pos_embed", (1, 1 + patches, width))
    p.add("patch_embed.proj.weight", (width, 3, patch, patch), CONV)
    p.add("patch_embed.proj.bias", (width,))
    for i in range(sizes["depth"]):
        name = f"blocks.{i}."
        p.norm(name + "norm1", width)
        p.linear(name + "attn.qkv", width, 3 * width)
        p.linear(name + "attn.proj", width, width)
        p.norm(name + "norm2", width)
        p.linear(name + "mlp.fc1", width, 4 * width)
        p.linear(name + "mlp.fc2", 4 * width, width)
    p.norm("norm", width)
    p.linear("head", width, variant.classes)
    return p


def _block(run, name, x, heads):
    qkv = run.linear(name + "attn.qkv", run.layer_norm(name + "norm1", x, EPSILON))  # (B, T, 3 D)
    q, k, v = (split_heads(part, heads) for part in jnp.split(qkv, 3, axis=2))
    x = x + run.linear(name + "attn.proj", attention(run, q, k, v))
    y = gelu(run.linear(name + "mlp.fc1", run.layer_norm(name + "norm2", x, EPSILON)))
    return x + run.linear(name + "mlp.fc2", y)


def forward(run, variant, batch):
    sizes = variant.sizes
    x = run.conv("patch_embed.proj", batch["input"], sizes["patch"])  # (B, H', W', D)
    x = x.reshape(x.shape[0], -1, x.shape[3])  # (B, P, D), patches row by row
    first = jnp.broadcast_to(run.p["cls_token"], (x.shape[0], 1, x.shape[2]))
    x = jnp.concatenate((first, x), axis=1) + run.p["pos_embed"]  # (B, T, D)
    for i in range(sizes["depth"]):
        x = _block(run, f"blocks.{i}.", x, sizes["heads"])
    x = run.layer_norm("norm", x, EPSILON)
    return run.linear("head", x[:, 0])
