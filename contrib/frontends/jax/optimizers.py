"""Parameter updates as PyTorch has them, with the numbers of models/nn/optimizer.c.

An optimizer is two functions: the state that it begins with, and one update of parameters,
gradients and state, all dictionaries by the parameters' names.
"""

import math

import jax.numpy as jnp

MOMENTUM = 0.9
BETA_1, BETA_2 = 0.9, 0.999
EPSILON = 1e-8
WEIGHT_DECAY = 0.01


def sgd_begin(parameters):
    return {"momentum": {name: jnp.zeros_like(p) for name, p in parameters.items()}}


def sgd(rate, parameters, gradients, state):
    """With momentum, no weight decay; all in the parameters' type."""
    momentum = {name: MOMENTUM * state["momentum"][name] + g for name, g in gradients.items()}
    return {name: p - rate * momentum[name] for name, p in parameters.items()}, {"momentum": momentum}


def adamw_begin(parameters):
    zeros = {name: jnp.zeros(p.shape, jnp.float32) for name, p in parameters.items()}
    return {"first": zeros, "second": {name: jnp.zeros_like(z) for name, z in zeros.items()},
            "step": jnp.zeros((), jnp.float32)}


def _correction(step, beta):
    """1 - beta^step, exact where beta^step is near 1."""
    return -jnp.expm1(step * math.log(beta))


def adamw(rate, parameters, gradients, state):
    """Moments and arithmetic in float32, whatever the parameters' type is."""
    step = state["step"] + 1
    size, scale = rate / _correction(step, BETA_1), 1 / jnp.sqrt(_correction(step, BETA_2))
    new, first, second = {}, {}, {}
    for name, parameter in parameters.items():
        g, p = gradients[name].astype(jnp.float32), parameter.astype(jnp.float32)
        first[name] = BETA_1 * state["first"][name] + (1 - BETA_1) * g
        second[name] = BETA_2 * state["second"][name] + (1 - BETA_2) * g * g
        p = p * (1 - rate * WEIGHT_DECAY) - size * first[name] / (jnp.sqrt(second[name]) * scale + EPSILON)
        new[name] = p.astype(parameter.dtype)
    return new, {"first": first, "second": second, "step": step}


OPTIMIZERS = {"sgd": (sgd_begin, sgd), "adamw": (adamw_begin, adamw)}
