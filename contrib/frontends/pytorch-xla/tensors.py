"""Weights into a module, and a module to the device with its shared tensors still shared."""

import numpy as np
import torch

import front_tensors
from front_errors import wrong_values


def _places(module):
    """(owner, attribute, full name, parameter) of all parameters, shared ones at each place."""
    for path, owner in module.named_modules():
        for attribute, parameter in owner.named_parameters(recurse=False, remove_duplicate=False):
            yield owner, attribute, f"{path}.{attribute}" if path else attribute, parameter


def _groups(module):
    """The places of each parameter, by its identity."""
    groups = {}
    for place in _places(module):
        groups.setdefault(id(place[3]), []).append(place)
    return groups.values()


def to_device(module, device):
    """Moves MODULE. `Module.to` makes a tensor of its own of each place where a shared parameter
    stands; here they become one again."""
    groups = [[place[:2] for place in places] for places in _groups(module)]
    module.to(device)
    for places in groups:
        first = getattr(*places[0])
        for owner, attribute in places[1:]:
            setattr(owner, attribute, first)
    if len(list(module.parameters())) != len(groups):
        raise RuntimeError("the module shares other parameters on the device than before")
    return module


def _statistics(module):
    for name, buffer in module.named_buffers():
        if name.endswith((".running_mean", ".running_var")):
            yield name, buffer


class Named:
    """Parameters and running statistics of a module under the names that checkpoints have. A shared
    parameter has the name that WEIGHTS, the tensors of a file, has for it."""

    def __init__(self, module, prefix, weights):
        self._module, self._prefix = module, prefix
        self._names = {}  # of the first place of a parameter: the checkpoint's
        for places in _groups(module):
            names = [self._short(name) for _, _, name, _ in places]
            given = [name for name in names if name in weights]
            if len(given) > 1:
                raise wrong_values(f"weights: {given[1]} is the same tensor as {given[0]}")
            self._names[places[0][2]] = given[0] if given else names[0]

    def _short(self, name):
        assert name.startswith(self._prefix), name
        return name[len(self._prefix):]

    def parameters(self):
        """(the checkpoint's name, parameter), each once."""
        for name, parameter in self._module.named_parameters():
            yield self._names[name], parameter

    def statistics(self):
        for name, buffer in _statistics(self._module):
            yield self._short(name), buffer

    def load(self, weights):
        """Copies WEIGHTS into the module. Only counters of batches may be missing."""
        tensors = dict(self.parameters()) | dict(self.statistics())
        front_tensors.check_weights(weights, {name: t.shape for name, t in tensors.items()})
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(np.array(weights[name], np.float32)))


def batch_of(inputs, device):
    """The batch on the device: images float32, tokens and labels int64, as PyTorch's losses want them."""
    batch = {}
    for name, array in inputs.items():
        dtype = np.float32 if array.dtype.kind == "f" else np.int64
        batch[name] = torch.from_numpy(np.array(array, dtype)).to(device)
    return batch


def to_array(tensor):
    return tensor.detach().cpu().numpy()
