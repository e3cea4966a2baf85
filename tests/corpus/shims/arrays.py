"""Data sets without their data: arrays of the true shapes, types and classes, few samples, the same each time."""
import numpy as np

TRAIN, TEST = 5000, 1000


def mnist():
    """uint8: pictures (N, 28, 28) and labels (N,), of training and of testing."""
    random = np.random.RandomState(0)
    return [a for n in (TRAIN, TEST)
            for a in (random.randint(0, 256, (n, 28, 28), np.uint8), random.randint(0, 10, n, np.uint8))]


def write_mnist(folder):
    """MNIST's own files in FOLDER, which readers that would fetch them take as fetched."""
    folder.mkdir(parents=True)
    for name, array in zip(("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1"), mnist()):
        head = bytes((0, 0, 8, array.ndim)) + b"".join(n.to_bytes(4, "big") for n in array.shape)
        (folder / f"{name}-ubyte").write_bytes(head + array.tobytes())
