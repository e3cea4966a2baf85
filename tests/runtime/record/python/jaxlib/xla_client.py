"""The part of jaxlib.xla_client that plugins use to learn of foreign functions."""
import ctypes
import os
import types

fake = ctypes.CDLL(os.environ["FAKE_PLUGIN"])


def capsule(symbol):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(ctypes.cast(fake[symbol], ctypes.c_void_p), b"xla._CUSTOM_CALL_TARGET", None)


own = []  # what jaxlib itself was told
_xla = types.SimpleNamespace(
    custom_call_targets=lambda platform: {
        "xla_ffi_python_cpu_callback": {"execute": capsule("fake_handler_state")},
        "known": capsule("fake_handler_plain"),
    },
    register_custom_call_target=lambda *args: own.append(args[0]),
)
xla_platform_names = {"cpu": "Host"}
_custom_callback_handler = {}
pending = [("lapack", capsule("fake_handler_plain"), 1), ("old", capsule("fake_handler_plain"), 0)]


def register_custom_call_target(name, target, api_version=1):
    if "Host" in _custom_callback_handler:
        _custom_callback_handler["Host"](name, target, "Host", api_version, 0)
    else:
        pending.append((name, target, api_version))


def register_custom_call_handler(platform, handler):
    _custom_callback_handler[xla_platform_names[platform]] = handler
    for name, target, api_version in pending:
        register_custom_call_target(name, target, api_version)
