"""ResNet-18 and ResNet-50 as torchvision builds them: the stride of a bottleneck sits on its 3x3
convolution (He et al., Deep Residual Learning for Image Recognition, 2016)."""

from typing import NamedTuple

from layers import Plan, global_mean, max_pool, relu, row_loss

loss = row_loss


class Block(NamedTuple):
    name: str
    inner: int  # channels that come in
    width: int  # of the 3x3 convolutions
    out: int
    stride: int

    @property
    def projects(self):
        return self.stride > 1 or self.inner != self.out


def _blocks(sizes):
    """All blocks from first to last."""
    divisor, growth = sizes["divisor"], 4 if sizes["bottleneck"] else 1
    inner = 64 // divisor
    for level, count in enumerate(sizes["blocks"]):
        width = (64 << level) // divisor
        for number in range(count):
            stride = 2 if level and not number else 1
            yield Block(f"layer{level + 1}.{number}", inner, width, width * growth, stride)
            inner = width * growth


def _convolutions(sizes, block):
    """(in, out, kernel, stride) of a block's convolutions but the shortcut's."""
    if sizes["bottleneck"]:
        return ((block.inner, block.width, 1, 1), (block.width, block.width, 3, block.stride),
                (block.width, block.out, 1, 1))
    return (block.inner, block.width, 3, block.stride), (block.width, block.out, 3, 1)


def plan(variant):
    sizes, p = variant.sizes, Plan()
    out = 64 // sizes["divisor"]
    p.conv("conv1", 3, out, 7)
    p.batch_norm("bn1", out)
    for block in _blocks(sizes):
        for i, (inner, out, kernel, _) in enumerate(_convolutions(sizes, block), 1):
            p.conv(f"{block.name}.conv{i}", inner, out, kernel)
            p.batch_norm(f"{block.name}.bn{i}", out)
        if block.projects:
            p.conv(block.name + ".downsample.0", block.inner, block.out, 1)
            p.batch_norm(block.name + ".downsample.1", block.out)
        out = block.out
    p.linear("fc", out, variant.classes)
    return p


def _forward_block(run, sizes, block, x):
    y = x
    for i, (_, _, kernel, stride) in enumerate(_convolutions(sizes, block), 1):
        y = relu(y) if i > 1 else y
        y = run.conv(f"{block.name}.conv{i}", y, stride, kernel // 2)
        y = run.batch_norm(f"{block.name}.bn{i}", y)
    if block.projects:
        x = run.conv(block.name + ".downsample.0", x, block.stride)
        x = run.batch_norm(block.name + ".downsample.1", x)
    return relu(y + x)


def forward(run, variant, batch):
    x = run.conv("conv1", batch["input"], 2, 3)  # (B, 112, 112, 64), at 224 pixels
    x = relu(run.batch_norm("bn1", x))
    x = max_pool(x, 3, 2, 1)  # (B, 56, 56, 64)
    for block in _blocks(variant.sizes):
        x = _forward_block(run, variant.sizes, block, x)
    return run.linear("fc", global_mean(x))  # (B, classes)
