"""Two networks with an optimizer each are updated in turns, from noise that JAX draws: a step is one update of both."""
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS, BATCH, NOISE = 300, 64, 32


def network(seed, sizes):
    random = np.random.RandomState(seed)
    return [(jnp.asarray(random.randn(m, n).astype(np.float32) / np.sqrt(m)), jnp.zeros(n))
            for m, n in zip(sizes[:-1], sizes[1:])]


def apply(layers, x):
    for w, b in layers[:-1]:
        x = jax.nn.leaky_relu(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


generator = network(0, (NOISE, 256, 256, 784))
critic = network(1, (784, 256, 256, 1))
optimizer = optax.adam(2e-4)
generator_state, critic_state = optimizer.init(generator), optimizer.init(critic)


@jax.jit
def train_critic(critic, state, generator, real, noise):
    def loss_of(critic):
        fake = apply(generator, noise)
        return jnp.mean(jax.nn.softplus(-apply(critic, real)) + jax.nn.softplus(apply(critic, fake)))

    loss, gradient = jax.value_and_grad(loss_of)(critic)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(critic, updates), state, loss


@jax.jit
def train_generator(generator, state, critic, noise):
    def loss_of(generator):
        return jnp.mean(jax.nn.softplus(-apply(critic, apply(generator, noise))))

    loss, gradient = jax.value_and_grad(loss_of)(generator)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(generator, updates), state, loss


pictures = np.random.RandomState(2).rand(2048, 784).astype(np.float32)
key = jax.random.key(0)
for i in range(STEPS):
    key, first, second = jax.random.split(key, 3)
    real = pictures[i * BATCH % 2048:][:BATCH]
    critic, critic_state, critic_loss = train_critic(
        critic, critic_state, generator, real, jax.random.normal(first, (BATCH, NOISE)))
    generator, generator_state, generator_loss = train_generator(
        generator, generator_state, critic, jax.random.normal(second, (BATCH, NOISE)))
    if i % 50 == 49:
        print(f"step {i}: losses {float(critic_loss):.5f} {float(generator_loss):.5f}", flush=True)
