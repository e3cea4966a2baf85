"""A program in byte code or HLO as StableHLO text: program_text.py < PROGRAM > TEXT.

bench graph reads the programs of recordings through it. The last line on standard error says what went wrong: exit
code 3, jaxlib is not installed; 1, it cannot read the program.
"""

import sys

BYTE_CODE = b"ML\xefR"
NOT_INSTALLED, FAILED = 3, 1


def module_of(code):
    """The StableHLO module of CODE: MLIR byte code, a portable artifact or not, or a serialized HloModuleProto."""
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo
    registry, context = ir.DialectRegistry(), ir.Context()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    mhlo.register_mhlo_dialect(context)
    if not code.startswith(BYTE_CODE):
        return ir.Module.parse(xla_client._xla.mlir.hlo_to_stablehlo(code), context)
    try:
        return stablehlo.deserialize_portable_artifact(context, code)
    except Exception:  # not of a released version: what the library prints itself
        return ir.Module.parse(code, context)


def main():
    code = sys.stdin.buffer.read()
    try:
        text = module_of(code).operation.get_asm(enable_debug_info=True)
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        print(f"no module {error.name}", file=sys.stderr)
        return NOT_INSTALLED
    except Exception as error:  # whatever it is: in one line
        print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
