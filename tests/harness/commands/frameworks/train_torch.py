"""A small training loop of PyTorch/XLA: lazy tensors, a compiled model, or a compiled step."""
import numpy as np
import torch
import torch_xla

import loop


def main():
    o = loop.options(["lazy", "dynamo", "dynamo-step"])
    torch.manual_seed(1)
    device = torch_xla.device()
    layers = [layer for _ in range(o.layers)
              for layer in (torch.nn.Linear(o.size, o.size), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    batches = [torch.randn(o.rows, o.size) for _ in range(4)]
    forward = torch.compile(model, backend="openxla") if o.way == "dynamo" else model

    def train(x):
        optimizer.zero_grad()
        loss = (forward(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    compiled = torch.compile(train, backend="openxla") if o.way == "dynamo-step" else train

    def step(number):
        rows = loop.rows_of(o, number)
        loss = compiled(batches[number % len(batches)][:rows].to(device))
        torch_xla.sync()
        return loss

    loop.run(o, step, lambda loss: np.float32(loss.item()).tobytes(),
             lambda: [p.detach().cpu().numpy().tobytes() for p in model.parameters()])


main()
