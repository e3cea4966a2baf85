"""Keras's fit on JAX with a validation after each epoch: what its guides begin with."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

keras.utils.set_random_seed(0)
random = np.random.RandomState(0)
x, y = random.rand(36 * 128, 784).astype(np.float32), random.randint(0, 10, 36 * 128)
model = keras.Sequential([
    keras.layers.Input((784,)),
    keras.layers.Dense(512, activation="relu"),
    keras.layers.Dense(512, activation="relu"),
    keras.layers.Dense(10),
])
model.compile(
    optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"],
    run_eagerly=False, jit_compile=True)
model.fit(x, y, batch_size=128, epochs=4, validation_data=(x[:1024], y[:1024]), verbose=2)
