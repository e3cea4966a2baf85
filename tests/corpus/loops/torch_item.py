"""PyTorch/XLA, lazy tensors: each iteration's loss is read with item(), so the host waits for the device in each."""
import torch
import torch_xla

STEPS = 300

torch.manual_seed(0)
device = torch_xla.device()
model = torch.nn.Sequential(
    torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
    torch.nn.Linear(512, 10)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_of = torch.nn.CrossEntropyLoss()


def iterate(x, y):
    optimizer.zero_grad()
    loss = loss_of(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    return loss.item()


total = 0.0
for i in range(STEPS):
    x, y = torch.randn(128, 256), torch.randint(0, 10, (128,))
    total += iterate(x, y)
    if i % 50 == 49:
        print(f"step {i}: loss {total / 50:.5f}", flush=True)
        total = 0.0
