"""A small training loop of PyTorch/XLA: lazy tensors, a compiled model, a compiled step, or lazy tensors with
a program for the update of each layer."""
import numpy as np
import torch
import torch_xla

import loop

PIECE = 64 * 1024  # bytes, at most, of a batch that is sent in pieces: some runtimes send larger ones later


def main():
    o = loop.options(["lazy", "dynamo", "dynamo-step", "layers"], sent=("plain", "pieces", "early"))
    torch.manual_seed(1)
    device = torch_xla.device()
    layers = [layer for _ in range(o.layers)
              for layer in (torch.nn.Linear(o.size, o.size), torch.nn.Tanh())]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    optimizers = [torch.optim.SGD(layer.parameters(), lr=1e-2) for layer in model if list(layer.parameters())]
    batches = [torch.randn(o.rows, o.size) for _ in range(4)]
    forward = torch.compile(model, backend="openxla") if o.way == "dynamo" else model

    def send(number):
        rows = batches[number % len(batches)][:loop.rows_of(o, number)]
        return [piece.to(device) for piece in rows.split(o.rows if o.sent == "plain" else PIECE // (4 * o.size))]

    early = [send(i) for i in range(len(batches))] if o.sent == "early" else []
    if early:
        torch_xla.sync()

    def train(x):
        optimizer.zero_grad()
        loss = (forward(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def train_by_layers(x):
        optimizer.zero_grad()
        loss = (forward(x) ** 2).mean()
        loss.backward()
        for one in optimizers:
            torch_xla.sync()
            one.step()
        return loss

    compiled = train_by_layers if o.way == "layers" else train
    if o.way == "dynamo-step":
        compiled = torch.compile(train, backend="openxla")

    def step(number):
        pieces = early[number % len(early)] if early else send(number)
        loss = compiled(pieces[0] if len(pieces) == 1 else torch.cat(pieces))
        torch_xla.sync()
        return loss

    loop.run(o, step, lambda loss: np.float32(loss.item()).tobytes(),
             lambda: [p.detach().cpu().numpy().tobytes() for p in model.parameters()])


main()
