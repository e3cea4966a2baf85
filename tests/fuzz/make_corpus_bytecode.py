#!/usr/bin/env python3
"""Writes the seeds of MLIR's byte code, tests/fuzz/corpus/bytecode, which tests/runtime/stablehlo
reads, too. Needs the libraries that come with JAX:

    make frontends FRONTENDS=jax
    third_party/frontends/jax/bin/python tests/fuzz/make_corpus_bytecode.py

What fuzzing found has names that begin with found-, and is not made here."""
import io
import subprocess
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from corpus_put import put

DECLARED = """module @step attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 3 : i32} {
  func.func private @helper(%arg0: tensor<f64>) -> tensor<f64> { return %arg0 : tensor<f64> }
  func.func public @main(
      %arg0: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}", mhlo.memory_kind = "pinned_host"},
      %arg1: tensor<i32> {jax.global_constant = "_platform_index"},
      %arg2: tensor<4xf8E4M3FN> {tf.aliasing_output = 1 : i32},
      %arg3: tensor<3x?xui8> {jax.buffer_donor = true},
      %arg4: tensor<2xcomplex<f32>> {jax.buffer_donor = false, mhlo.sharding = "{devices=[4]<=[4]}"},
      %arg5: tensor<300xi4>, %arg6: tensor<i1>)
      -> (tensor<2x3xf32> {jax.result_info = "r", mhlo.layout_mode = "auto"}, tensor<4xf8E4M3FN>) {
    return %arg0, %arg2 : tensor<2x3xf32>, tensor<4xf8E4M3FN>
  }
}
"""

COLLECTIVES = """module {
  func.func public @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.all_reduce"(%arg0) <{replica_groups = dense<[[0, 5], [1, 4], [3, 2]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = "stablehlo.collective_permute"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 1,
        type = 1>, source_target_pairs = dense<[[0, 300], [1, 0]]> : tensor<2x2xi64>}>
        : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %2 : tensor<4x4xf32>
  }
}
"""

NESTED = """module {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> tensor<4xf32> {
    %0 = call @inner(%arg0, %arg1) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @inner(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> tensor<4xf32> {
    %0 = "stablehlo.case"(%arg1) ({
      %1 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 0 : i64, split_count = 2 : i64,
        replica_groups = dense<[[0, 7], [1, 6], [2, 5], [3, 4]]> : tensor<4x2xi64>, split_dimension = 0 : i64}>
        : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %1 : tensor<4xf32>
    }, {
      stablehlo.return %arg0 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""

EACH = """module {
  func.func public @main(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = "stablehlo.NAME"(%arg0) <{WORDS}>REGION : (tensor<4x4xf32>) -> tensor<TYPE>
    return %arg0 : tensor<4x4xf32>
  }
}
"""
REGION = """ ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    })"""
GROUPS = ("replica_groups = dense<[[0, 11], [1, 10], [2, 9], [3, 8], [4, 7], [5, 6]]> "
          ": tensor<6x2xi64>")
GLOBAL = ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids"

MESHES = """module {
  sdy.mesh @small = <["x"=2]>
  sdy.mesh @mesh = <["a"=2, "b"=4]>
  sdy.mesh @one = <[], device_ids=[9]>
  func.func public @main(
      %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {"b":(2)2}]>},
      %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}], replicated={"a", "b"}>},
      %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["c"=16]>, [{"c"}]>}) -> tensor<8x8xf32> {
    return %arg0 : tensor<8x8xf32>
  }
}
"""

TYPES = """module {
  func.func public @main(%arg0: tensor<2x?xf32, #stablehlo.bounds<?, 5>>, %arg1: !stablehlo.token,
      %arg2: tuple<tensor<2xf32>, tensor<i32>>, %arg3: tensor<*xf32>, %arg4: tensor<bf16>,
      %arg5: tensor<ui64>, %arg6: tensor<f8E4M3B11FNUZ>, %arg7: tensor<1x1x1x1x1x1x1xf4E2M1FN>) {
    return
  }
}
"""

UNKNOWN = """module {
  func.func public @main(%arg0: memref<2xf32>) { return }
}
"""

PASSED = """module {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.create_token : !stablehlo.token
    OP
    return %arg0 : tensor<4xf32>
  }
}
"""
CHANNEL = ("<{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, "
           "source_target_pairs = dense<[[0, 11]]> : tensor<1x2xi64>}>")
SEND = f'"stablehlo.send"(%arg0, %0) {CHANNEL} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token'
RECV = f'"stablehlo.recv"(%0) {CHANNEL} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)'

# The memory is stated in an unknown form, which XLA ignores.
UNREAD = """module {
  func.func public @main(%arg0: tensor<6xi4> {mhlo.memory_kind = 5 : i32}) -> tensor<6xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<6xi4>) -> tensor<6xf32>
    return %0 : tensor<6xf32>
  }
}
"""


def module(text):
    return ir.Module.parse(text)


def plain(text, version=6):
    out = io.BytesIO()
    module(text).operation.write_bytecode(out, desired_version=version)
    return out.getvalue()


def portable(text, version="1.15.0"):
    return stablehlo.serialize_portable_artifact(module(text), version)


# A process of its own: places name the files of all callers.
OF_JAX = r"""
import sys
import jax, numpy
from jaxlib.mlir.dialects import stablehlo
code = "def layer(x):\n    return x * 2 + 1\n\ndef step(x):\n    return layer(x) * layer(x)\n"
names = {}
exec(compile(code, "/home/user/train.py", "exec"), names)
module = jax.jit(names["step"]).lower(numpy.ones(4, numpy.float32)).compiler_ir("stablehlo")
sys.stdout.buffer.write(stablehlo.serialize_portable_artifact(module, "1.15.0"))
"""


def of_jax():
    return subprocess.run([sys.executable, "-c", OF_JAX], stdout=subprocess.PIPE, check=True).stdout


with jax_mlir.make_ir_context():
    for version in range(7):
        put("bytecode", f"declared-v{version}", plain(DECLARED, version))
    put("bytecode", "declared-portable", portable(DECLARED))
    put("bytecode", "declared-portable-0.9", portable(DECLARED, "0.9.0"))
    for version in (0, 3, 6):
        put("bytecode", f"collectives-v{version}", plain(COLLECTIVES, version))
    for version in ("0.9.0", "1.15.0"):
        put("bytecode", f"collectives-portable-{version}", portable(COLLECTIVES, version))
    put("bytecode", "nested", plain(NESTED))
    put("bytecode", "nested-portable", portable(NESTED))
    for name, words, region, kind in (
            ("all_gather", "all_gather_dim = 0 : i64, " + GROUPS + GLOBAL, "", "8x4xf32"),
            ("all_reduce", GROUPS + GLOBAL, REGION, "4x4xf32"),
            ("all_to_all", "concat_dimension = 0 : i64, split_count = 2 : i64, split_dimension = 0"
             " : i64, " + GROUPS, "", "4x4xf32"),
            ("collective_broadcast", GROUPS, "", "4x4xf32"),
            ("collective_permute", "source_target_pairs = dense<[[0, 11]]> : tensor<1x2xi64>", "",
             "4x4xf32"),
            ("cross-replica-sum", GROUPS, "", "4x4xf32"),
            ("reduce_scatter", "scatter_dimension = 0 : i64, " + GROUPS + GLOBAL, REGION,
             "2x4xf32")):
        text = EACH.replace("NAME", name).replace("WORDS", words).replace("REGION", region)
        text = text.replace("TYPE", kind)
        put("bytecode", "op-" + name, plain(text))
        put("bytecode", "op-" + name + "-portable", portable(text))
    for name, op in (("send", "%1 = " + SEND), ("recv", "%1:2 = " + RECV)):
        text = PASSED.replace("OP", op)
        put("bytecode", "op-" + name, plain(text))
        put("bytecode", "op-" + name + "-portable", portable(text, "1.17.0"))
    put("bytecode", "meshes", plain(MESHES))
    put("bytecode", "types", plain(TYPES))
    put("bytecode", "types-portable", portable(TYPES))
    put("bytecode", "unknown-type", plain(UNKNOWN))
    put("bytecode", "unread", portable(UNREAD, "1.0.0"))
    put("bytecode", "source-jax", of_jax())
    good = plain(DECLARED)
    put("bytecode", "no-main", plain(DECLARED.replace("@main", "@step")))
    put("bytecode", "cut", good[:300])
    put("bytecode", "version-7", good[:4] + bytes([7 << 1 | 1]) + good[5:])
    put("bytecode", "empty", b"ML\xefR")
