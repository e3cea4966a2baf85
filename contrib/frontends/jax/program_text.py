"""A program in byte code or HLO as StableHLO text: program_text.py < PROGRAM > TEXT.

bench graph reads programs through it. The last line on standard error says what went wrong: exit code 3, jaxlib is not
installed or not one that it knows; 1, it cannot read the program.
"""

import sys

BYTE_CODE = b"ML\xefR"
NOT_INSTALLED, FAILED = 3, 1


class Reader:
    """What jaxlib has for programs, all in one context of MLIR. ImportError and AttributeError: it has it no longer."""

    def __init__(self):
        from jaxlib import xla_client
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext
        from jaxlib.mlir.dialects import chlo, mhlo, sdy, stablehlo
        registry, self.context = ir.DialectRegistry(), ir.Context()
        _jax_mlir_ext.register_dialects(registry)
        self.context.append_dialect_registry(registry)
        self.context.load_all_available_dialects()
        for dialect in (stablehlo, chlo, sdy):
            dialect.register_dialect(self.context)
        mhlo.register_mhlo_dialect(self.context)
        self.from_hlo = xla_client._xla.mlir.hlo_to_stablehlo
        self.from_artifact = stablehlo.deserialize_portable_artifact
        self.parse = ir.Module.parse

    def module_of(self, code):
        """The StableHLO module of CODE: MLIR byte code, a portable artifact or not, or a serialized HloModuleProto."""
        if not code.startswith(BYTE_CODE):
            return self.parse(self.from_hlo(code), self.context)
        try:
            return self.from_artifact(self.context, code)
        except Exception as first:  # not of a released version: what the library prints itself
            try:
                return self.parse(code, self.context)
            except Exception as second:
                raise ValueError(f"{first}; {second}") from second


def complain(error):
    """The last line on standard error, whatever ERROR has in it."""
    print(f"{type(error).__name__}: {' '.join(str(error).split())}", file=sys.stderr)


def installed():
    try:
        import jaxlib
        return f"jaxlib {jaxlib.__version__}"
    except ImportError:
        return "no jaxlib"


def main():
    try:
        reader = Reader()
    except (ImportError, AttributeError) as error:
        print(f"{installed()} ({error})", file=sys.stderr)
        return NOT_INSTALLED
    try:
        text = reader.module_of(sys.stdin.buffer.read()).operation.get_asm(enable_debug_info=True)
        sys.stdout.buffer.write(text.rstrip("\n").encode() + b"\n")
        sys.stdout.buffer.flush()
    except Exception as error:
        complain(error)
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
