#!/usr/bin/env python3
"""drive.py - runs one program of programs.json as it is, under its own clock.

    drive.py [--programs DIR] [--clock FILE] NAME

NAME is a program of the list. Those of others are under DIR as OWNER+REPOSITORY/PATH. FILE gets when each of the
program's steps began, were handed over and were done, {"step_begins_ns": [...], "step_ends_ns": [...], "step_done_ns":
[N or null, ...], "exit": N, "error": TEXT or null}, in nanoseconds of CLOCK_MONOTONIC, the clock of recordings. `clock`
of the list says what is timed:

    NAME                       calls by that name in the program's own files
    .NAME                      calls of an attribute of that name in them
    MODULE:CLASS.ATTRIBUTE     calls of a library's method that gets a step's results

A call begins when its arguments are there, and ends when it returns. With JAX another thread awaits the smallest array that
it returned, or that the library's method got: then the step is done. The program's own threads await nothing more, and nothing else of it changes but
`settings` of the list, which replace numbers that its files assign to these names: how long and how large. Data sets come from
shims/. It runs in an empty folder. Ends with the program's exit code; 2 usage.
"""
import argparse
import ast
import concurrent.futures
import functools
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import time
import traceback
import types

HERE = pathlib.Path(__file__).resolve().parent
TICK = "__corpus_clock__"


def program_list():
    return json.loads((HERE / "programs.json").read_text())


def path_of(program, programs):
    """Where PROGRAM lies, or None: of those of others in the folder PROGRAMS, which may be None."""
    if program["origin"] == "here":
        return HERE / program["path"]
    if programs is None:
        return None
    owner, repository = program["origin"].rstrip("/").split("/")[-2:]
    path = pathlib.Path(programs).resolve() / f"{owner}+{repository}" / program["path"]
    return path if path.is_file() else None


class Watch:
    """Notes when arrays are there. Each is awaited at once, by a thread of its own: the program may donate it soon, and
    one that it has donated before tells nothing."""

    def __init__(self):
        self.threads, self.done_ns = concurrent.futures.ThreadPoolExecutor(256), {}

    def wait(self, number, array):
        try:
            array.block_until_ready()
            self.done_ns[number] = time.monotonic_ns()
        except RuntimeError:
            pass

    def add(self, number, result):
        jax = sys.modules.get("jax")
        arrays = [leaf for leaf in jax.tree_util.tree_leaves(result) if isinstance(leaf, jax.Array)] if jax else []
        if arrays:
            self.threads.submit(self.wait, number, min(arrays, key=lambda array: array.nbytes))

    def times(self, count):
        self.threads.shutdown()
        return [self.done_ns.get(number) for number in range(count)]


class Clock:
    """When calls began and ended, and when what they returned was there."""

    def __init__(self):
        self.begins_ns, self.ends_ns, self.watch = [], [], Watch()

    def timed(self, function, of_arguments=False):
        """FUNCTION, timed. OF_ARGUMENTS: a step is done when what it is called with is there, and not its result."""
        def called(*arguments, **keywords):
            self.begins_ns.append(time.monotonic_ns())
            try:
                result = function(*arguments, **keywords)
            finally:
                self.ends_ns.append(time.monotonic_ns())
            self.watch.add(len(self.ends_ns) - 1, (arguments, keywords) if of_arguments else result)
            return result

        return called

    def patch(self, target):
        """Times calls of a method, MODULE:CLASS.ATTRIBUTE, as soon as the program imports the module."""
        module, path = target.split(":")
        *owners, attribute = path.split(".")

        def loaded(module):
            owner = functools.reduce(getattr, owners, module)
            method = getattr(owner, attribute)
            setattr(owner, attribute, functools.wraps(method)(self.timed(method, True)))

        if module in sys.modules:
            loaded(sys.modules[module])
        else:
            sys.meta_path.insert(0, Loaded(module, loaded))


class Loaded:
    """Calls THEN with the module NAME when that has been imported."""

    def __init__(self, name, then):
        self.name, self.then = name, then

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.then(module)

        spec.loader.exec_module = exec_module
        return spec


class Change(ast.NodeTransformer):
    """Times the calls of NAME (.NAME: of an attribute), and replaces the numbers of SETTINGS."""

    def __init__(self, name, settings):
        self.name, self.settings, self.calls, self.set = name, settings, 0, set()

    def visit_Call(self, node):
        self.generic_visit(node)
        called = node.func
        name = {ast.Name: lambda: called.id, ast.Attribute: lambda: "." + called.attr}.get(type(called), lambda: None)()
        if name is not None and name == self.name:
            self.calls += 1
            node.func = ast.Call(ast.Name(TICK, ast.Load()), [called], [])
        return node

    def assigned(self, node, targets):
        self.generic_visit(node)
        for target in targets:
            name = getattr(target, "id", getattr(target, "attr", None))
            if name in self.settings and isinstance(node.value, ast.Constant):
                node.value = ast.Constant(self.settings[name])
                self.set.add(name)
        return node

    def visit_Assign(self, node):
        return self.assigned(node, node.targets)

    def visit_AnnAssign(self, node):
        return self.assigned(node, [node.target])

    def code(self, source, path):
        tree = self.visit(ast.parse(source, str(path)))
        return compile(ast.fix_missing_locations(tree), str(path), "exec")


class Loader(importlib.machinery.SourceFileLoader):
    """Modules beside the program change as it does; there is no byte code of them."""

    change = None

    def get_code(self, name):
        return self.change.code(self.get_data(self.path), self.path)

    def exec_module(self, module):
        setattr(module, TICK, self.tick)
        super().exec_module(module)


def parts_of(path):
    """The text of a program and False; of a notebook its cells of code, without lines for IPython alone, each with
    whether it may end in an error, as it did when it was saved."""
    text = path.read_text()
    if path.suffix != ".ipynb":
        return [(text, False)]
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return [("\n".join("" if line.lstrip().startswith(("%", "!")) else line
                       for line in "".join(cell["source"]).split("\n")),
             any(output["output_type"] == "error" for output in cell.get("outputs", []))) for cell in cells]


def execute(change, path, names):
    for text, may_fail in parts_of(path):
        code = change.code(text, path)
        try:
            exec(code, names)
        except Exception:
            if not may_fail:
                raise
            traceback.print_exc()


def run(program, path, clock):
    """Runs PROGRAM, whose file is PATH, as `python PATH ARGUMENT...` would. Returns its exit code and what it died of."""
    name = program["clock"]
    change = Change(None if ":" in name else name, program.get("settings", {}))
    tick = clock.timed
    hook = importlib.machinery.FileFinder.path_hook(
        (type("ProgramLoader", (Loader,), {"change": change, "tick": staticmethod(tick)}), [".py"]))
    sys.path[0:1] = [str(HERE / "shims"), str(path.parent)]
    sys.path_hooks.insert(0, lambda folder: hook(folder) if folder == str(path.parent) else refuse(folder))
    sys.path_importer_cache.pop(str(path.parent), None)
    main = types.ModuleType("__main__")
    main.__file__ = str(path)
    setattr(main, TICK, tick)
    sys.modules["__main__"] = main
    sys.argv = [str(path), *program["arguments"]]
    try:
        if ":" in name:
            clock.patch(name)
        execute(change, path, main.__dict__)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None), None
    except BaseException as error:  # whatever it dies of, what the clock saw is written down
        traceback.print_exc()
        return 1, f"{type(error).__name__}: {error}"
    unused = set(program.get("settings", {})) - change.set
    return (1, f"nothing is assigned to {sorted(unused)}") if unused else (0, None)


def refuse(folder):
    raise ImportError(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", metavar="DIR")
    parser.add_argument("--clock", metavar="FILE")
    parser.add_argument("name", metavar="NAME")
    options = parser.parse_args()
    found = [p for p in program_list()["programs"] if p["name"] == options.name]
    if not found:
        parser.error(f"there is no program {options.name}")
    path = path_of(found[0], options.programs)
    if path is None:
        parser.error(f"{found[0]['origin']} has {found[0]['path']}, --programs DIR has not")
    out = options.clock and pathlib.Path(options.clock).resolve()
    clock = Clock()
    os.environ.setdefault("MPLBACKEND", "Agg")
    with tempfile.TemporaryDirectory(prefix="bench-corpus.", ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        if "mnist" in found[0]:
            sys.path.insert(0, str(HERE / "shims"))
            import arrays

            arrays.write_mnist(pathlib.Path(folder) / found[0]["mnist"])
            del sys.path[0]
        status, error = run(found[0], path, clock)
        if out:
            said = {"step_begins_ns": clock.begins_ns, "step_ends_ns": clock.ends_ns,
                    "step_done_ns": clock.watch.times(len(clock.ends_ns)), "exit": status, "error": error}
            out.write_text(json.dumps(said) + "\n")
        os.chdir("/")
    return status


if __name__ == "__main__":
    sys.exit(main())
