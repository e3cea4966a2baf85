"""Stands in for JAX: its configuration."""
import os
import types

config = types.SimpleNamespace(jax_num_cpu_devices=int(os.environ.get("JAX_NUM_CPU_DEVICES", -1)))
