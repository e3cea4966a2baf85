"""Makes a client of the recorder's plugin, as a framework would, and prints what it got, as JSON."""
import ctypes
import json
import os
import re
import sys

size = ctypes.c_size_t
pointer = ctypes.c_void_p


class Create(ctypes.Structure):
    # PJRT_Client_Create_Args up to `client`, as of an older caller.
    _fields_ = [("struct_size", size), ("extension", pointer), ("options", pointer), ("count", size),
                ("get", pointer), ("get_arg", pointer), ("put", pointer), ("put_arg", pointer),
                ("client", pointer), ("error", pointer)]


class Devices(ctypes.Structure):
    _fields_ = [("struct_size", size), ("extension", pointer), ("client", pointer),
                ("devices", pointer), ("count", size)]


# In the order of the table, behind its head of 40 bytes.
entries = re.findall(r"_PJRT_API_STRUCT_FIELD\(PJRT_(\w+)\)", open(os.environ["HEADER"]).read())


def call(name, args):
    offset = 40 + 8 * entries.index(name)
    table = recorder.GetPjrtApi()
    function = pointer.from_address(table + offset).value
    error = ctypes.CFUNCTYPE(pointer, pointer)(function)(ctypes.byref(args))
    assert not error, "%s failed" % name


recorder = ctypes.CDLL(os.environ["RECORDER"])
recorder.GetPjrtApi.restype = pointer
if "jax" in sys.argv:
    import jax
    import jaxlib.xla_client
if "config" in sys.argv:
    jax.config.jax_num_cpu_devices = 3
if "flag" in sys.argv:
    os.environ["XLA_FLAGS"] = "--other=1 --xla_force_host_platform_device_count=" + sys.argv[-1]
if "marks" in sys.argv:
    # Both are known before the client is made.
    import bench_marks
    import jax.profiler
    from jax.profiler import StepTraceAnnotation

    before = StepTraceAnnotation("before", step_num=1)
create = Create(struct_size=Create.error.offset)
call("Client_Create", create)
devices = Devices(struct_size=ctypes.sizeof(Devices), client=create.client)
call("Client_AddressableDevices", devices)
said = {"devices": devices.count}
if "jax" in sys.argv:
    from jax._src.interpreters import mlir

    xla_client = jaxlib.xla_client
    xla_client.register_custom_call_target("later", xla_client.capsule("fake_handler_plain"))
    xla_client.register_custom_call_target(
        "staged", {"instantiate": xla_client.capsule("fake_handler_plain"),
                   "execute": xla_client.capsule("fake_handler_plain")})
    fake = xla_client.fake
    fake.FakePjrtCall.restype = ctypes.c_char_p
    said["calls"] = {name: fake.FakePjrtCall(name.encode()).decode() for name in
                     ("xla_ffi_python_cpu_callback", "known", "lapack", "old", "later", "staged")}
    said["own"] = xla_client.own
    if "numpy" in sys.argv:
        import numpy

        context = mlir.ModuleContext()
        for value in (numpy.ones((3, 4)).T, numpy.ones((1, 4), order="F"), numpy.ones((3, 0)),
                      numpy.ones((4, 4))[::2, ::-1], numpy.float32(1), numpy.ones(4)):
            context.add_host_callback(lambda value=value: (value, None))
        said["strides"] = [list(getattr(c()[0], "strides", ())) for c in context.callbacks]
if "marks" in sys.argv:
    class Own(StepTraceAnnotation):
        pass

    class OnDevice:
        def __index__(self):
            raise AssertionError("it was read")

    with before, StepTraceAnnotation("train", step_num=41), bench_marks.phase("eval"):
        pass
    with Own("own", step_num=OnDevice()):
        pass
    try:
        with bench_marks.step(7):
            raise KeyError
    except KeyError:
        pass
    for _ in range(2):
        with bench_marks.step(name="\0"), bench_marks.step(name="counted"), bench_marks.step(1 << 70):
            pass
    said["entered"] = StepTraceAnnotation.entered
print(json.dumps(said))
