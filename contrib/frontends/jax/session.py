"""A model in JAX with its weights, its batch and one of the modes."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import front_tensors
from front_errors import not_supported
from front_timing import now_ns
from layers import Run, to_device
from models import FAMILIES
from optimizers import OPTIMIZERS

DTYPES = {"f32": jnp.float32, "bf16": jnp.bfloat16}


def equations(jaxpr):
    """Equations of JAXPR and of those inside it, without those that only hold another."""
    count = 0
    for equation in jaxpr.eqns:
        inner = list(_inner(equation.params.values()))
        count += sum(equations(j) for j in inner) if inner else 1
    return count


def _inner(values):
    """The jaxprs among an equation's parameters."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _inner(value)
        elif hasattr(value, "eqns"):
            yield value
        elif hasattr(value, "jaxpr"):
            yield value.jaxpr


class Session:
    def __init__(self, request, weights, inputs):
        if request.values:
            jax.config.update("jax_default_matmul_precision", "highest")
        self._request = request
        self._model = FAMILIES[request.model.family]
        self._variant = dataclasses.replace(request.sizes, image=request.image, seq=request.seq)
        self._plan = self._model.plan(self._variant).tensors
        front_tensors.check_weights(weights, {n: t.shape for n, t in self._plan.items()})
        self._dtype = DTYPES[request.dtype]
        self._check_batch_norm(inputs)
        self._batch = self._load_batch(inputs)
        self._state = self._load_state(weights)
        self._gradients = {}
        self._decoding = None
        if request.decode:
            rows = self._batch["input_ids"].shape[0]
            self._decoding = self._model.decode_begin(self._variant, rows, request.context, self._dtype)
        self._pending = self._state
        self.count = int(sum(p.size for p in self._state["parameters"].values()))
        self._make_step()

    def _check_batch_norm(self, inputs):
        """Training needs two values a channel."""
        request = self._request
        if request.train and request.model.family == "resnet" and request.image <= 32:
            if inputs["input"].shape[0] < 2:
                raise not_supported(f"batch 1 and image {request.image}: one value a channel, training needs two")

    def _load_batch(self, inputs):
        batch = {}
        for name, array in inputs.items():
            if name == "input":
                batch[name] = to_device(np.transpose(array, (0, 2, 3, 1)), self._dtype)
            elif name != "labels" or self._request.train or self._request.values:
                batch[name] = to_device(array, jnp.int32)
        return batch

    def _load_state(self, weights):
        tensors = {n: t.to_device(weights[n], self._dtype) for n, t in self._plan.items()}
        state = {"parameters": {n: v for n, v in tensors.items() if not self._plan[n].statistic},
                 "statistics": {n: v for n, v in tensors.items() if self._plan[n].statistic}}
        if self._request.train:
            begin, _ = OPTIMIZERS[self._request.optimizer]
            state["optimizer"] = begin(state["parameters"])
            if self._request.dropout:
                state["key"] = jax.random.PRNGKey(self._request.seed)
        return state

    # ---- the functions of a step -----------------------------------------------------

    def _forward(self, parameters, statistics, batch):
        run = Run(parameters, statistics, train=False)
        return self._model.forward(run, self._variant, batch)

    def _decode(self, decoding, parameters, batch):
        return self._model.decode(Run(parameters, {}, train=False), self._variant, batch, decoding)

    def _loss(self, parameters, statistics, key, batch):
        run = Run(parameters, statistics, True, key)
        logits = self._model.forward(run, self._variant, batch)
        return self._model.loss(logits, batch["labels"]), run.next_s

    def _differentiate(self, parameters, statistics, key, batch):
        """Loss, new statistics, new key and gradients."""
        next_key = use = None
        if key is not None:
            next_key, use = jax.random.split(key)
        (loss, statistics), gradients = jax.value_and_grad(self._loss, has_aux=True)(
            parameters, statistics, use, batch)
        return loss, statistics, next_key, gradients

    def _update(self, parameters, optimizer, gradients):
        _, update = OPTIMIZERS[self._request.optimizer]
        return update(self._request.learning_rate, parameters, gradients, optimizer)

    def _whole(self, state, batch):
        """A whole training step. Gradients are results for values only."""
        loss, statistics, key, gradients = self._differentiate(
            state["parameters"], state["statistics"], state.get("key"), batch)
        parameters, optimizer = self._update(state["parameters"], state["optimizer"], gradients)
        new = {"parameters": parameters, "statistics": statistics, "optimizer": optimizer}
        if key is not None:
            new["key"] = key
        return new, loss, gradients if self._request.values else {}

    # ---- modes -----------------------------------------------------------------------

    def _make_step(self):
        mode, train = self._request.mode, self._request.train
        self._infer = self._forward if mode == "eager" else jax.jit(self._forward)
        self._train = self._whole
        if mode == "capture":
            self._train = jax.jit(self._whole, donate_argnums=0)
        elif mode == "parts":
            # Both read the parameters, so only the second may take their memory.
            self._first = jax.jit(self._differentiate, donate_argnums=(1, 2))
            self._second = jax.jit(self._update, donate_argnums=(0, 1))
            self._train = self._in_parts
        self._advance = self._decode if mode == "eager" else jax.jit(self._decode, donate_argnums=0)
        self.step = self._decode_step if self._request.decode else self._train_step if train else self._infer_step

    def _in_parts(self, state, batch):
        loss, statistics, key, gradients = self._first(
            state["parameters"], state["statistics"], state.get("key"), batch)
        parameters, optimizer = self._second(state["parameters"], state["optimizer"], gradients)
        new = {"parameters": parameters, "statistics": statistics, "optimizer": optimizer}
        if key is not None:
            new["key"] = key
        return new, loss, gradients if self._request.values else {}

    def _train_step(self):
        self._state, loss, self._gradients = self._train(self._state, self._batch)
        self._pending = (self._state, loss)
        return loss

    def _infer_step(self):
        state = self._state
        self._pending = self._infer(state["parameters"], state["statistics"], self._batch)

    def _decode_step(self):
        logits, self._decoding = self._advance(self._decoding, self._state["parameters"], self._batch)
        self._pending = (logits, self._decoding)

    def wait(self):
        jax.block_until_ready(self._pending)

    def read(self, loss):
        return float(loss)

    # ---- what a report says ----------------------------------------------------------

    def describe(self):
        """Traces the step once, apart from the steps, and counts."""
        begin = now_ns()
        if self._request.train:
            jaxpr = jax.make_jaxpr(self._whole)(self._state, self._batch)
        elif self._request.decode:
            jaxpr = jax.make_jaxpr(self._decode)(self._decoding, self._state["parameters"], self._batch)
        else:
            state = self._state
            jaxpr = jax.make_jaxpr(self._forward)(state["parameters"], state["statistics"], self._batch)
        spent = now_ns() - begin
        device = jax.devices()[0]
        eager = self._request.mode == "eager"
        return {
            "device": f"{device.platform}: {device.device_kind}",
            "nodes_per_step": None if eager else 0,
            "nodes_once": equations(jaxpr.jaxpr),
            "nodes_of": "equations of the step's jaxpr, those of inner jaxprs included: nodes_once, " + (
                "of a trace that the measured steps do not make" if eager else
                "which jit traced before the first step; no later step traces any"),
            "trace_ns_per_step": None,
            "trace_of": ("op by op: nothing is traced apart from the execution" if eager else
                         "jit traces before the first step only; trace_once_ns is one trace of the step to a jaxpr"),
            "trace_once_ns": spent,
        }

    def begin_measuring(self):
        pass

    def end_measuring(self, steps):
        return {}

    # ---- values ----------------------------------------------------------------------

    def evaluate(self):
        """Logits as an array, and the loss where there are labels."""
        state = self._state
        logits = self._infer(state["parameters"], state["statistics"], self._batch)
        loss = None
        if "labels" in self._batch:
            loss = float(self._model.loss(logits, self._batch["labels"]))
        return np.asarray(logits).astype(np.float32), loss

    def _named(self, values):
        for name, value in values.items():
            yield name, self._plan[name].to_framework(value)

    def gradients(self):
        return self._named(self._gradients)

    def parameters(self):
        return self._named(self._state["parameters"])

    def statistics(self):
        return self._named(self._state["statistics"])
