/*
 * python.c - in a process that runs Python: what a framework there asks of the client that is made,
 * and what it has for it.
 *
 * JAX's own CPU client is told the number of devices by JAX's configuration, and has LAPACK and
 * Python callbacks in its library. A plugin gets neither. So the recorder reads the number before
 * the client is made, and hands the plugin jaxlib's handlers behind that (ffi.c). What it needs of
 * JAX:
 *
 *   - jax.config.jax_num_cpu_devices
 *   - jaxlib.xla_client.register_custom_call_handler: how JAX's plugins get to know of foreign
 *     functions, those of a program's own as well; and the list of functions that are known already
 *   - for callbacks: that JAX passes each through ModuleContext.add_host_callback. A result must
 *     have the strides that XLA expects, else jaxlib's handler looks into a state that it does not
 *     have here, and crashes. This leans on insides of jaxlib, and was tried with some versions:
 *     others get no callbacks.
 *
 * What does not fit is left out and named in the recording. Python is never linked: its functions
 * are looked up, and a process without them, or without jaxlib, is left as it is.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "runtime/record/record_priv.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- running Python -----------------------------------------------------------------------------
 */

enum { FILE_INPUT = 257, CODE_MOST = 8192 }; /* Py_file_input of Python's compile.h */

/* Functions of Python's C API, of its stable interface but for PyRun_String. */
typedef struct python {
    int (*Py_IsInitialized)(void);
    int (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int state);
    void *(*PyDict_New)(void);
    void *(*PyRun_String)(const char *code, int start, void *globals, void *locals);
    void (*PyErr_Clear)(void);
    int (*PyErr_ExceptionMatches)(void *type);
    void (*PyErr_SetInterrupt)(void);
    void (*Py_DecRef)(void *object);
    void **PyExc_KeyboardInterrupt;
} python;

static bool find(void *function, const char *name)
{
    void *symbol = record_symbol(RTLD_DEFAULT, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol;
}

static bool find_python(python *py)
{
#define FIND(name) find(&py->name, #name)
    bool found = FIND(Py_IsInitialized) && FIND(PyGILState_Ensure) && FIND(PyGILState_Release) &&
                 FIND(PyDict_New) && FIND(PyRun_String) && FIND(PyErr_Clear) &&
                 FIND(PyErr_ExceptionMatches) && FIND(PyErr_SetInterrupt) && FIND(Py_DecRef) &&
                 FIND(PyExc_KeyboardInterrupt);
#undef FIND
    (void)dlerror(); /* the caller's, who may ask for one, is about its own search */
    return found && py->Py_IsInitialized();
}

/* Drops the exception that left our code. One of Ctrl-C is the program's, and comes again. */
static void drop_exception(const python *py)
{
    bool interrupted = py->PyErr_ExceptionMatches(*py->PyExc_KeyboardInterrupt);
    py->PyErr_Clear();
    if (interrupted)
        py->PyErr_SetInterrupt();
}

/* Runs the Python CODE in names of its own, where the process runs Python. The calling thread may
 * hold Python's lock. */
__attribute__((format(printf, 1, 2))) static void run(const char *code, ...)
{
    python py;
    char *text = find_python(&py) ? malloc(CODE_MOST) : NULL;
    va_list arguments;
    va_start(arguments, code);
    int length = text ? vsnprintf(text, CODE_MOST, code, arguments) : -1;
    va_end(arguments);
    if (length > 0 && length < CODE_MOST) {
        int state = py.PyGILState_Ensure();
        void *names = py.PyDict_New();
        void *result = names ? py.PyRun_String(text, FILE_INPUT, names, names) : NULL;
        if (!result)
            drop_exception(&py);
        py.Py_DecRef(result);
        py.Py_DecRef(names);
        py.PyGILState_Release(state);
    }
    free(text);
}

/* ---- notes --------------------------------------------------------------------------------------
 */

void record_note(record_plugin *p, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0 && record_goes_on())
        record_put_text(p, RECORD_TEXT_NOTE, record_plugin_number(p), text,
                        strnlen(text, sizeof text));
}

/* ---- devices ------------------------------------------------------------------------------------
 */

/* JAX's option counts before XLA's flag, as in JAX's own client. PyTorch/XLA has a variable. */
static const char count_devices[] =
    "import sys, os, ctypes\n"
    "def count():\n"
    "    asked = -1\n"
    "    if 'jax' in sys.modules:\n"
    "        asked = int(sys.modules['jax'].config.jax_num_cpu_devices)\n"
    "    if asked < 1 and 'torch_xla' in sys.modules:\n"
    "        asked = int(os.environ.get('CPU_NUM_DEVICES', -1))\n"
    "    return asked\n"
    "ctypes.c_long.from_address(%llu).value = count()\n";

/* The value of the last --xla_force_host_platform_device_count in FLAGS, which are words; -1 where
 * there is none. */
static long flag_in(const char *flags)
{
    static const char name[] = "--xla_force_host_platform_device_count=";
    long value = -1;
    for (const char *at = flags; (at = strstr(at, name)); at += sizeof name - 1)
        value = strtol(at + sizeof name - 1, NULL, 10);
    return value;
}

/* As XLA reads XLA_FLAGS: flags, or the name of a file of them. */
static long flag_devices(void)
{
    const char *flags = getenv("XLA_FLAGS");
    char text[8192] = "";
    while (flags && (*flags == ' ' || *flags == '\t' || *flags == '\n'))
        flags++;
    if (!flags || !*flags || *flags == '-')
        return flags ? flag_in(flags) : -1;
    FILE *file = fopen(flags, "re");
    if (file)
        text[fread(text, 1, sizeof text - 1, file)] = 0;
    if (file)
        fclose(file);
    return flag_in(text);
}

static long variable_devices(void)
{
    const char *text = getenv("JAX_NUM_CPU_DEVICES");
    return text ? strtol(text, NULL, 10) : -1;
}

long record_python_devices(void)
{
    long asked = -1;
    run(count_devices, (unsigned long long)(uintptr_t)&asked);
    if (asked < 1)
        asked = flag_devices();
    if (asked < 1)
        asked = variable_devices();
    return asked > 0 && asked <= RECORD_DEVICES ? asked : 0;
}

/* ---- handlers -----------------------------------------------------------------------------------
 */

static int take_handler(int plugin, const char *name, void *handler, int wants_state)
{
    return record_ffi_register(&record_plugins[plugin % RECORD_PLUGINS], name, handler,
                               wants_state);
}

static void take_note(int plugin, const char *text)
{
    record_note(&record_plugins[plugin % RECORD_PLUGINS], "%s", text);
}

static const char hand_over[] =
    "import sys, ctypes\n"
    "plugin = %d\n"
    "register = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p,\n"
    "                            ctypes.c_int)(%llu)\n"
    "tell = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p)(%llu)\n"
    "def note(text):\n"
    "    tell(plugin, ('handlers-missing: ' + text)[:1000].encode())\n"
    "def pointer(capsule):\n"
    "    api = ctypes.pythonapi\n"
    "    name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(\n"
    "        ('PyCapsule_GetName', api))(capsule)\n"
    "    return ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(\n"
    "        ('PyCapsule_GetPointer', api))(capsule, name)\n"
    "def is_callback(name):\n"
    "    return 'python_cpu_callback' in name\n"
    "def forward(name, target, callbacks):\n"
    "    name = name.decode() if isinstance(name, bytes) else str(name)\n"
    "    if is_callback(name) and not callbacks:\n"
    "        return\n"
    "    stages = target if isinstance(target, dict) else {'execute': target}\n"
    "    if list(stages) != ['execute']:\n"
    "        note(name + ': it has more stages than execute')\n"
    "    elif not register(plugin, name.encode(), pointer(stages['execute']), is_callback(name)):\n"
    "        note(name + ': the plugin does not take it')\n"
    /* XLA's strides of an array without padding; numpy's may differ where there are dimensions of 0
     * or 1. */
    "def plain(value, numpy):\n"
    "    if not isinstance(value, numpy.ndarray):\n"
    "        return value\n"
    "    strides, step = [], value.itemsize\n"
    "    for size in reversed(value.shape):\n"
    "        strides.insert(0, step)\n"
    "        step *= size\n"
    "    strides = tuple(strides)\n"
    "    if value.strides != strides:\n"
    "        value = numpy.array(value, order='C', copy=True)\n"
    "    if value.strides != strides:\n"
    "        value = numpy.lib.stride_tricks.as_strided(value, value.shape, strides)\n"
    "    return value\n"
    "def prepare_callbacks(version):\n"
    "    if not (0, 10) <= tuple(int(n) for n in version.split('.')[:2]) <= (0, 12):\n"
    "        raise RuntimeError('bench has tried callbacks with jaxlib 0.10 to 0.12 only')\n"
    "    import numpy\n"
    "    from jax._src.interpreters.mlir import ModuleContext\n"
    "    add = ModuleContext.add_host_callback\n"
    "    if getattr(add, 'of_bench', False):\n"
    "        return\n"
    "    def add_host_callback(self, callback):\n"
    "        def plain_callback(*args, **more):\n"
    "            out = callback(*args, **more)\n"
    "            return tuple(plain(o, numpy) for o in out) if isinstance(out, tuple) else out\n"
    "        return add(self, plain_callback)\n"
    "    add_host_callback.of_bench = True\n"
    "    ModuleContext.add_host_callback = add_host_callback\n"
    "def hand_over():\n"
    "    from jaxlib import version, xla_client\n"
    "    version = version.__version__\n"
    "    callbacks = 'jax' in sys.modules\n"
    "    try:\n"
    "        if callbacks:\n"
    "            prepare_callbacks(version)\n"
    "    except Exception as error:\n"
    "        callbacks = False\n"
    "        note('Python callbacks of jaxlib %%s: %%s' %% (version, error))\n"
    "    library = xla_client._xla\n"
    "    for name, target in library.custom_call_targets('cpu').items():\n"
    "        forward(name, target, callbacks)\n"
    "    host = xla_client.xla_platform_names['cpu']\n"
    "    before = xla_client._custom_callback_handler.get(host)\n"
    "    def handler(name, target, platform, api_version, traits):\n"
    "        if api_version == 1:\n"
    "            forward(name, target, callbacks)\n"
    "        else:\n"
    "            note('%%s: it is of the old interface' %% name)\n"
    "        (before or library.register_custom_call_target)(\n"
    "            name, target, platform, api_version, traits)\n"
    "    if before:\n"
    "        xla_client._custom_callback_handler[host] = handler\n"
    "    else:\n"
    "        xla_client.register_custom_call_handler('cpu', handler)\n"
    "if 'jaxlib' in sys.modules:\n"
    "    try:\n"
    "        hand_over()\n"
    "    except Exception as error:\n"
    "        note('functions of jaxlib %%s: %%s' %% (\n"
    "            getattr(sys.modules['jaxlib'], '__version__', ''), error))\n";

/* ---- marks --------------------------------------------------------------------------------------
 */

/* Our module tells why where it cannot. */
static const char mark_steps[] = "import bench_marks\n"
                                 "bench_marks.mark_jax()\n";

/* ---- a client -----------------------------------------------------------------------------------
 */

static bool is_cpu(const record_plugin *p, PJRT_Client *client)
{
    RECORD_ARGS(Client_PlatformName, name, .client = client);
    return RECORD_HAS(p, Client_PlatformName) &&
           record_succeeded(p, p->api->PJRT_Client_PlatformName(&name)) &&
           ((name.platform_name_size == 3 && memcmp(name.platform_name, "cpu", 3) == 0) ||
            (name.platform_name_size == 4 && memcmp(name.platform_name, "Host", 4) == 0));
}

void record_python_client(record_plugin *p, PJRT_Client *client)
{
    int (*handler)(int, const char *, void *, int) = take_handler;
    void (*note)(int, const char *) = take_note;
    uintptr_t handler_address, note_address;
    memcpy(&handler_address, &handler, sizeof handler_address);
    memcpy(&note_address, &note, sizeof note_address);
    if (is_cpu(p, client) && record_ffi_takes(p) && !atomic_exchange(&p->has_handlers, true))
        run(hand_over, record_plugin_number(p), (unsigned long long)handler_address,
            (unsigned long long)note_address);
    const char *marks = getenv(RECORD_ENV_MARKS);
    if (marks && strcmp(marks, "jax") == 0)
        run("%s", mark_steps);
}
