"""Layers in plain JAX, on tensors by name. Images are (B, H, W, C), tokens (B, T, D).

A model's file says what tensors it has (Plan) and computes with them (Run). Names and shapes are
those of PyTorch's checkpoints. Weights of convolutions and linear layers are transposed once, when
they are loaded, to (h, w, in, out) and (in, out), as JAX programs have them.

Normalisation, softmax and loss compute in float32, whatever the model's type is, as in bench.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

CONV = (2, 3, 1, 0)  # from (out, in, h, w)
LINEAR = (1, 0)  # from (out, in)


def to_device(array, dtype):
    """ARRAY on the device, in memory of its own: it may be donated, and files are mapped."""
    return jnp.array(np.ascontiguousarray(array).astype(jnp.dtype(dtype)))


@dataclass(frozen=True)
class Tensor:
    shape: tuple  # the framework's
    order: tuple  # of the framework's dimensions on the device; (): as they are
    statistic: bool

    def to_device(self, array, dtype):
        array = np.transpose(array, self.order) if self.order else array
        return to_device(array, jnp.float32 if self.statistic else dtype)

    def to_framework(self, value):
        array = np.asarray(value).astype(np.float32)
        return np.transpose(array, np.argsort(self.order)) if self.order else array


class Plan:
    """The tensors of a model, in the framework's order."""

    def __init__(self):
        self.tensors = {}

    def add(self, name, shape, order=(), statistic=False):
        assert name not in self.tensors, name
        self.tensors[name] = Tensor(tuple(shape), order, statistic)

    def conv(self, name, inner, out, kernel, bias=False):
        self.add(name + ".weight", (out, inner, kernel, kernel), CONV)
        if bias:
            self.add(name + ".bias", (out,))

    def linear(self, name, inner, out):
        self.add(name + ".weight", (out, inner), LINEAR)
        self.add(name + ".bias", (out,))

    def norm(self, name, width):
        self.add(name + ".weight", (width,))
        self.add(name + ".bias", (width,))

    def batch_norm(self, name, channels):
        self.norm(name, channels)
        self.add(name + ".running_mean", (channels,), statistic=True)
        self.add(name + ".running_var", (channels,), statistic=True)

    def embedding(self, name, rows, width):
        self.add(name + ".weight", (rows, width))


class Run:
    """One pass: parameters P and statistics S by name. NEXT_S has the statistics after the pass.
    Without a KEY nothing is dropped."""

    def __init__(self, p, s, train, key=None):
        self.p, self.s, self.train = p, s, train
        self.next_s = dict(s)
        self._key, self._dropouts = key, 0

    def dropout(self, x, rate):
        if self._key is None:
            return x
        key = jax.random.fold_in(self._key, self._dropouts)
        self._dropouts += 1
        kept = jax.random.bernoulli(key, 1.0 - rate, x.shape)
        return jnp.where(kept, x * (1.0 / (1.0 - rate)), 0).astype(x.dtype)

    def conv(self, name, x, stride=1, padding=0):
        x = lax.conv_general_dilated(
            x, self.p[name + ".weight"], (stride, stride), [(padding, padding)] * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"))
        bias = self.p.get(name + ".bias")
        return x if bias is None else x + bias

    def linear(self, name, x):
        return x @ self.p[name + ".weight"] + self.p[name + ".bias"]

    def batch_norm(self, name, x, momentum=0.1, epsilon=1e-5):
        """Training normalises by the biased variance; the running one takes the unbiased."""
        dtype, wide = x.dtype, x.astype(jnp.float32)
        mean, variance = self.s[name + ".running_mean"], self.s[name + ".running_var"]
        if self.train:
            count = x.shape[0] * x.shape[1] * x.shape[2]
            old_mean, old_variance = mean, variance
            mean = wide.mean((0, 1, 2))
            variance = jnp.square(wide - mean).mean((0, 1, 2))
            self.next_s[name + ".running_mean"] = (1 - momentum) * old_mean + momentum * mean
            self.next_s[name + ".running_var"] = (
                (1 - momentum) * old_variance + momentum * count / (count - 1) * variance)
        scale = self.p[name + ".weight"].astype(jnp.float32) * lax.rsqrt(variance + epsilon)
        return ((wide - mean) * scale + self.p[name + ".bias"].astype(jnp.float32)).astype(dtype)

    def layer_norm(self, name, x, epsilon):
        dtype, x = x.dtype, x.astype(jnp.float32)
        x = x - x.mean(-1, keepdims=True)
        x = x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + epsilon)
        weight, bias = self.p[name + ".weight"], self.p[name + ".bias"]
        return (x * weight.astype(jnp.float32) + bias.astype(jnp.float32)).astype(dtype)

    def embedding(self, name, ids):
        return jnp.take(self.p[name + ".weight"], ids, axis=0, mode="clip")


# ---- without tensors of their own ------------------------------------------------------

def relu(x):
    return jnp.maximum(x, 0)


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def gelu_tanh(x):
    return jax.nn.gelu(x, approximate=True)


def max_pool(x, kernel, stride, padding=0):
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (1, kernel, kernel, 1), (1, stride, stride, 1),
        ((0, 0), (padding, padding), (padding, padding), (0, 0)))


def global_mean(x):
    """(B, H, W, C) -> (B, C)"""
    return x.astype(jnp.float32).mean((1, 2)).astype(x.dtype)


def _bins(size, bins):
    """(bins, size): row i averages elements floor(i size / bins) up to, not including,
    ceil((i + 1) size / bins)."""
    share = np.zeros((bins, size), np.float32)
    for i in range(bins):
        first, end = i * size // bins, -(-(i + 1) * size // bins)
        share[i, first:end] = 1.0 / (end - first)
    return share


def adaptive_mean(x, bins):
    """PyTorch's adaptive average pool to BINS a side."""
    if x.shape[1:3] == (bins, bins):
        return x
    wide = x.astype(jnp.float32)
    wide = jnp.einsum("ph,bhwc->bpwc", _bins(x.shape[1], bins), wide)
    return jnp.einsum("qw,bpwc->bpqc", _bins(x.shape[2], bins), wide).astype(x.dtype)


def flatten(x):
    """(B, H, W, C) -> (B, C * H * W), the order that PyTorch's linear layers expect."""
    return jnp.transpose(x, (0, 3, 1, 2)).reshape(x.shape[0], -1)


def split_heads(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads)


def attention(run, q, k, v, mask=None, hidden=0.0, rate=0.0):
    """Heads (B, T, N, E) -> (B, T, N * E). Where MASK is false a score becomes HIDDEN; weights are
    dropped at RATE."""
    scores = jnp.einsum("btne,bsne->bnts", q, k).astype(jnp.float32) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = jnp.where(mask, scores, hidden)
    weights = run.dropout(jax.nn.softmax(scores, -1).astype(q.dtype), rate)
    out = jnp.einsum("bnts,bsne->btne", weights, v)
    return out.reshape(out.shape[0], out.shape[1], -1)


# ---- decoding: one token of each row ----------------------------------------------------

def decode_state(shape, layers, dtype):
    """Caches of keys and values (B, S, N, E) of LAYERS, the position, and the next token of each row.
    Each array has memory of its own: all are donated."""
    return {"caches": [(jnp.zeros(shape, dtype), jnp.zeros(shape, dtype)) for _ in range(layers)],
            "position": jnp.zeros((), jnp.int32), "token": jnp.zeros(shape[0], jnp.int32)}


def decode_token(state, prompt):
    """The step's token of each row, (B): of PROMPT (B, P) as far as it reaches, then the one chosen."""
    given = lax.dynamic_index_in_dim(prompt, state["position"], 1, keepdims=False)
    return jnp.where(state["position"] < prompt.shape[1], given, state["token"])


def decode_end(state, caches, prompt, logits):
    """The next state: greedy choice by LOGITS (B, V); behind the last position comes the first one
    behind the prompt."""
    position = state["position"] + 1
    return {"caches": caches, "token": logits.argmax(-1).astype(jnp.int32),
            "position": jnp.where(position < caches[0][0].shape[1], position, prompt.shape[1])}


def cached_attention(q, k, v, cache, position):
    """Heads (B, 1, N, E) of the token at POSITION, and CACHE -> (B, 1, N * E), the new cache."""
    keys, values = (lax.dynamic_update_slice_in_dim(c, x, position, 1) for c, x in zip(cache, (k, v)))
    scores = jnp.einsum("btne,bsne->bnts", q, keys).astype(jnp.float32) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.arange(keys.shape[1]) <= position, scores, -jnp.inf)
    out = jnp.einsum("bnts,bsne->btne", jax.nn.softmax(scores, -1).astype(q.dtype), values)
    return out.reshape(out.shape[0], out.shape[1], -1), (keys, values)


# ---- losses ----------------------------------------------------------------------------

NO_LABEL = -100  # of a token that no loss counts


def _log_likelihood(logits, labels):
    """log p of each row's label, as a sum over all classes with a mask."""
    logp = jax.nn.log_softmax(logits.astype(jnp.float32), -1)
    classes = lax.broadcasted_iota(labels.dtype, logits.shape, logits.ndim - 1)
    return jnp.where(classes == labels[..., None], logp, 0).sum(-1)


def row_loss(logits, labels):
    """Mean cross-entropy of rows."""
    return -_log_likelihood(logits, labels).mean()


def token_loss(logits, labels):
    """Mean cross-entropy of the tokens that have a label."""
    counted = labels != NO_LABEL
    total = jnp.where(counted, _log_likelihood(logits, labels), 0).sum()
    return -total / counted.astype(jnp.float32).sum()
