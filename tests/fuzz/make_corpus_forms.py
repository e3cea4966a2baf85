#!/usr/bin/env python3
"""Writes a seed of tests/fuzz/corpus/graph that tests/runtime/stablehlo reads, too: a training step
in the usual form of MLIR's text, a zero byte, and the same step in generic form. Needs JAX:

    make frontends FRONTENDS=jax
    third_party/frontends/jax/bin/python tests/fuzz/make_corpus_forms.py
"""
import jax
import jax.numpy as jnp
from jax import lax

from corpus_put import put


def step(weights, filters, images, labels, index):
    def loss(weights, filters):
        x = lax.conv_general_dilated(images, filters, (2, 2), "SAME",
                                     dimension_numbers=("NCHW", "OIHW", "NCHW"))
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = x.reshape(x.shape[0], -1) @ weights
        x = x - x.max(axis=1, keepdims=True)
        x = x - jnp.log(jnp.sum(jnp.exp(x), 1, keepdims=True))
        return -jnp.mean(jnp.take_along_axis(x, labels[:, None], 1))

    value, (of_weights, of_filters) = jax.value_and_grad(loss, (0, 1))(weights, filters)
    carry, rows = lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(3), jnp.arange(12.0).reshape(4, 3))
    carry = lax.cond(index > 0, lambda a: a + 1, lambda a: a * 2, carry)
    doubled = lax.while_loop(lambda z: z < 10, lambda z: z * 2, index)
    return (value, weights - .1 * of_weights, filters - .1 * of_filters, jnp.sort(carry),
            carry.at[index].add(2.), jnp.argmax(rows, 0), lax.top_k(rows, 2), doubled)


def shape(*sizes, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(sizes, dtype)


module = jax.jit(step, donate_argnums=(0, 1)).lower(
    shape(16, 10), shape(4, 3, 3, 3), shape(2, 3, 8, 8), shape(2, dtype=jnp.int32),
    shape(dtype=jnp.int32)).compiler_ir("stablehlo")
put("graph", "forms-train", module.operation.get_asm() + "\0" +
    module.operation.get_asm(print_generic_op_form=True))
