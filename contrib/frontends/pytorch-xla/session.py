"""A model in PyTorch/XLA with its weights, its batch and one of the modes.

A script that trains does: no gradients, forward, loss, backward, optimizer.step(), torch_xla.sync().
So do these steps. Gradients are on the module until the next step begins, as in such a script.
"""

import dataclasses
import statistics

import torch
import torch_xla
import torch_xla.backends
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as xla_metrics

import tensors
from front_errors import not_supported
from front_timing import now_ns
from models import family

# Metrics of PyTorch/XLA that are sums of nanoseconds, and those that are sums of something else.
_TIMES = ("CompileTime", "DeviceLockWait", "ExecuteTime", "LazyTracing", "RunCachedGraphInputData",
          "RunCachedGraphOutputData", "TransferFromDeviceTime", "TransferToDeviceTime", "UnwrapXlaData",
          "WrapXlaData")
_SUMS = ("TensorsGraphSize",)
# What PyTorch/XLA computes otherwise than PyTorch. No loss of a training step depends on it.
_BIASED = "running_var: PyTorch/XLA adds the biased variance of the batch, PyTorch and bench the unbiased one"

_FALLBACK = "aten::"  # counters of operations that ran on the host


def _snapshot():
    """(samples, sum) of the metrics that there are, and the counters of fallbacks."""
    metrics = {}
    for name in _TIMES + _SUMS:
        data = xla_metrics.metric_data(name)
        if data is not None:
            metrics[name] = (data[0], data[1])
    counters = {name: xla_metrics.counter_value(name) for name in xla_metrics.counter_names()
                if name.startswith(_FALLBACK)}
    return metrics, counters


def _optimizer(request, parameters):
    """As in models/nn/optimizer.c. AdamW's count of steps is on the device, as there: otherwise it is a
    tensor of the host, from which each step computes numbers that it then sends."""
    if request.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=request.learning_rate, momentum=0.9, foreach=False)
    return torch.optim.AdamW(parameters, lr=request.learning_rate, betas=(0.9, 0.999), eps=1e-8,
                             weight_decay=0.01, foreach=False, capturable=True)


def _check_pool(request):
    """Refuses what PyTorch/XLA 2.9.0 gets wrong: where an operation has no lowering, dynamo's bridge cuts
    the graph in parts that hand the wrong tensors to each other in the backward pass."""
    if request.model.family == "vgg" and request.mode.startswith("dynamo") and request.train:
        if request.image // 32 % 7:
            raise not_supported(f"{request.model.name} at image {request.image} in mode {request.mode}: its "
                                "average pool has no lowering in PyTorch/XLA, and dynamo's gradients "
                                "around it fail; images of multiples of 224 have no such pool")


class Session:
    def __init__(self, request, weights, inputs):
        if request.dtype != "f32":
            raise not_supported(f"dtype {request.dtype}: in PyTorch/XLA norms and moments would have it too, "
                                "in bench's models they are f32")
        _check_pool(request)
        if request.values:
            torch_xla.backends.set_mat_mul_precision("highest")
        torch.manual_seed(request.seed)
        self._request = request
        self._family = family(request.model.family)
        self._device = torch_xla.device()
        xm.set_rng_state(request.seed)
        variant = dataclasses.replace(request.sizes, image=request.image, seq=request.seq)
        module = self._family.build(variant, request.dropout)
        self._named = tensors.Named(module, self._family.PREFIX, weights)
        self._named.load(weights)
        self._module = tensors.to_device(module, self._device).train(request.train)
        self.count = sum(p.numel() for p in module.parameters())
        self._load_batch(inputs)
        if request.train:
            self._optimizer = _optimizer(request, list(module.parameters()))
        self._marks = []
        self._make_step()
        torch_xla.sync()
        xm.wait_device_ops()

    def _load_batch(self, inputs):
        batch = tensors.batch_of(inputs, self._device)
        self._inputs = tuple(batch[name] for name in self._request.model.inputs)
        self._labels = batch.get("labels")

    # ---- modes -----------------------------------------------------------------------

    def _make_step(self):
        mode = self._request.mode
        self._forward = self._module
        if mode == "dynamo":
            self._forward = torch.compile(self._module, backend="openxla")
        self._whole = self._train_whole
        self._whole_inference = self._forward
        if mode == "dynamo-step":
            self._whole = torch.compile(self._train_whole, backend="openxla")
        elif mode == "capture":
            self._capture()
        self.step = self._train_step if self._request.train else self._infer_step

    def _capture(self):
        """Functions, since torch_xla.compile names programs by them and keeps weak references."""
        def train_step(*batch):
            return self._train_whole(*batch)

        def infer_step(*batch):
            return self._forward(*batch)

        self._whole = torch_xla.compile(train_step)
        self._whole_inference = torch_xla.compile(infer_step)

    def _train_whole(self, *batch):
        """A step up to its end; BATCH ends in the labels. The loss is returned as it is: dynamo would make
        a graph of its own of what follows the optimizer, and the backend has none without operations."""
        loss = self._family.loss(self._forward(*batch[:-1]), batch[-1])
        loss.backward()
        self._optimizer.step()
        return loss

    def _train_step(self):
        begin = now_ns()
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._whole(*self._inputs, self._labels)
        self._end(begin)
        return loss

    def _infer_step(self):
        begin = now_ns()
        with torch.no_grad():
            self._logits = self._whole_inference(*self._inputs)
        self._end(begin)

    def _end(self, begin):
        """Ends the step that began at BEGIN; torch_xla.compile has ended its own already."""
        called = now_ns()
        if self._request.mode != "capture":
            torch_xla.sync()
        self._marks.append((called - begin, now_ns() - called))

    def wait(self):
        xm.wait_device_ops()

    def read(self, loss):
        return loss.item()

    # ---- what a report says ----------------------------------------------------------

    def describe(self):
        normalises = any(isinstance(m, torch.nn.BatchNorm2d) for m in self._module.modules())
        return {"device": " ".join(torch_xla.real_devices()),
                "deviations": [_BIASED] if normalises and self._request.train else []}

    def begin_measuring(self):
        self._marks.clear()
        self._before = _snapshot()

    def end_measuring(self, steps):
        """What PyTorch/XLA counted and timed in STEPS steps."""
        (old, old_counters), (new, new_counters) = self._before, _snapshot()
        metrics = {}
        for name, (samples, total) in new.items():
            before = old.get(name, (0, 0))
            metrics[name] = {"samples": (samples - before[0]) / steps, "sum": (total - before[1]) / steps}
        fallbacks = {name: (count - old_counters.get(name, 0)) / steps for name, count in new_counters.items()}
        tracing, nodes = metrics.get("LazyTracing"), metrics.get("TensorsGraphSize")
        # Of a step that dynamo has captured the host's work is dynamo's, and not the tracing of the few
        # nodes that the step adds. metrics_per_step has their number.
        captured = self._request.mode in ("dynamo", "dynamo-step")
        return {
            "nodes_per_step": nodes["sum"] if nodes and not captured else None,
            "nodes_of": "IR nodes of the graphs that were traced in a step (metric TensorsGraphSize); unknown "
                        "where dynamo has captured the graph, which no step traces again",
            "trace_ns_per_step": tracing["sum"] if tracing else None,
            "trace_of": "metric LazyTracing: time in PyTorch/XLA's C++ tracing of operations, mean; "
                        "Python and the search for the compiled graph are in parts_ns_per_step",
            "parts_ns_per_step": self._parts(),
            "metrics_per_step": metrics,
            "fallbacks_per_step": {name: count for name, count in fallbacks.items() if count},
        }

    def _parts(self):
        """Medians of the host's two parts of a step."""
        names = ("call", "sync")
        sentences = ("the host from the begin of the step to torch_xla.sync(); in mode capture to its end",
                     "in torch_xla.sync(): the graph is put in order, hashed, looked up and submitted")
        parts = {name: statistics.median(column) for name, column in zip(names, zip(*self._marks))}
        return parts | {"of": dict(zip(names, sentences))}

    # ---- values ----------------------------------------------------------------------

    def evaluate(self):
        """Logits as an array, and the loss where there are labels."""
        self._module.eval()
        with torch.no_grad():
            logits = self._whole_inference(*self._inputs)
            torch_xla.sync()
            loss = None if self._labels is None else self._family.loss(logits, self._labels).item()
        logits = tensors.to_array(logits)
        self._module.train(self._request.train)
        return logits, loss

    def gradients(self):
        for name, parameter in self._named.parameters():
            if parameter.grad is not None:
                yield name, tensors.to_array(parameter.grad)

    def parameters(self):
        for name, parameter in self._named.parameters():
            yield name, tensors.to_array(parameter)

    def statistics(self):
        for name, buffer in self._named.statistics():
            yield name, tensors.to_array(buffer)

