"""Time value_and_grad against hand-written gradients and other libraries, in one run.

    python -m bench.run [program ...] [--rounds 21] [--jax]

All contenders of a program take turns, round after round. A figure is the median, over the rounds,
of a contender's time divided by that of the hand-written gradient in the same round. One thread;
times are CPU times, which another process on the machine disturbs less.
"""

import argparse
import contextlib
import gc
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import srcgrad
from bench import hand, programs

TURN = 0.01  # seconds that a contender's turn takes, at least


# What is timed ------------------------------------------------------------------------------------


def cases():
    """Return, for each program, its arguments and argnums."""
    rng = np.random.default_rng(0)
    normal = rng.normal
    layers = ((784, 128), (128, 64), (64, 10))
    small = {"w1": normal(size=(4, 8)), "b1": normal(size=8), "w2": normal(size=8), "b2": 0.3}
    large = {}
    for i, (n, m) in enumerate(layers, 1):
        large[f"w{i}"] = normal(size=(n, m)) / n**0.5
        large[f"b{i}"] = 0.1 * normal(size=m)
    bits = rng.integers(0, 2, 500).astype(float)
    return {
        "ten_ufuncs": ((normal(size=3),), 0),
        "four_operations": ((normal(size=3),), 0),
        "loop": ((normal(size=3),), 0),
        "small_mlp": ((small, normal(size=(16, 4)), normal(size=16)), 0),
        "rosenbrock": ((normal(size=100),), 0),
        "logistic_regression": ((normal(size=20), 0.2, normal(size=(500, 20)), bits, 0.01), (0, 1)),
        "mlp": ((large, normal(size=(128, 784)), rng.integers(0, 10, 128)), 0),
        "chain": ((normal(size=1_000_000),), 0),
    }


def tape_gradient(f, argnums):
    """Return a function that does with a tape what value_and_grad(f, argnums) does."""

    def run(*args):
        args = list(args)
        chosen = argnums if isinstance(argnums, tuple) else (argnums,)
        with srcgrad.GradientTape() as tape:
            for i in chosen:
                args[i] = tape.watch(args[i])
            value = f(*args)
        gradient = tape.gradient(value, [args[i] for i in chosen])
        return value.numpy(), gradient if isinstance(argnums, tuple) else gradient[0]

    return run


def joint_text(g, args):
    """Return the generated function, forward and backward in one, bound to its inputs.

    It is what a later version will run instead of the user's code; None where an input of it is
    no argument.
    """
    g(*args)
    made = g.specializations[-1]
    leaves = flat(args)
    if len(leaves) != len(made.signature):
        return None
    return lambda *_: made.function(*leaves)


def flat(args):
    """Return the arrays and floats of the arguments, dicts in the order of their keys."""
    leaves = []
    for a in args:
        leaves += [a[k] for k in sorted(a)] if isinstance(a, dict) else [a]
    return leaves


def programs_with(numpy):
    """Return the programs over another library's NumPy."""
    spec = importlib.util.spec_from_file_location(f"programs_{numpy.__name__}", programs.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.np = numpy
    return module


def contenders(name, args, argnums, with_jax):
    """Return {column: function of no arguments} for one program, the hand-written one first."""
    f = getattr(programs, name)
    g = srcgrad.value_and_grad(f, argnums)
    found = {"hand": getattr(hand, name), "srcgrad": g, "tape": tape_gradient(f, argnums)}
    found["text"] = joint_text(g, args)
    with contextlib.suppress(ImportError):
        import autograd
        import autograd.numpy

        found["autograd"] = autograd.value_and_grad(
            getattr(programs_with(autograd.numpy), name), argnums
        )
    if with_jax:
        found["jax"] = jax_gradient(name, argnums)
    return {column: bound(g, args) for column, g in found.items() if g is not None}


def bound(g, args):
    return lambda: g(*args)


def jax_gradient(name, argnums):
    import jax

    jax.config.update("jax_enable_x64", True)
    g = jax.jit(jax.value_and_grad(getattr(programs_with(jax.numpy), name), argnums))
    return lambda *args: jax.block_until_ready(g(*args))


# Correctness --------------------------------------------------------------------------------------


def check(name, functions):
    """Raise where the hand-written gradient, or a tape, differs from srcgrad's."""
    value, gradient = functions["srcgrad"]()
    for column in ("hand", "tape"):
        other_value, other = functions[column]()
        np.testing.assert_allclose(other_value, value, rtol=1e-9, err_msg=f"{name}, {column}")
        for a, b in zip(parts(other), parts(gradient), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10, err_msg=f"{name}, {column}")


def parts(gradient):
    """Return the arrays of a gradient as a list."""
    if isinstance(gradient, dict):
        return [parts(gradient[k])[0] for k in sorted(gradient)]
    if isinstance(gradient, (tuple, list)):
        return [parts(g)[0] for g in gradient]
    return [gradient.numpy() if hasattr(gradient, "numpy") else gradient]


# Timing -------------------------------------------------------------------------------------------


def seconds(function, number):
    start = time.process_time()
    for _ in range(number):
        function()
    return (time.process_time() - start) / number


def timings(functions, rounds):
    """Return each contender's time per call, in each round."""
    numbers = {}
    for column, function in functions.items():
        function()
        numbers[column] = max(1, round(TURN / max(seconds(function, 3), 1e-7)))
    times = {column: [] for column in functions}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            order = list(functions)
            order = order[turn % len(order) :] + order[: turn % len(order)]
            for column in order:
                times[column].append(seconds(functions[column], numbers[column]))
    finally:
        gc.enable()
    return times


def ratio(times, column, base):
    """Return the median over the rounds of one contender's time over another's."""
    return statistics.median(a / b for a, b in zip(times[column], times[base], strict=True))


def import_times(rounds=7):
    """Return how long `import numpy` and `import srcgrad` take, each in fresh processes."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:  # compiled once, whatever is set around
        env = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        env.pop("PYTHONDONTWRITEBYTECODE", None)

        def once(module):
            run = [sys.executable, "-c", code.format(module)]
            return float(subprocess.check_output(run, env=env, text=True))

        both = [(once("numpy"), once("srcgrad")) for _ in range(rounds + 1)][1:]
    return tuple(statistics.median(column) for column in zip(*both, strict=True))


# The table ----------------------------------------------------------------------------------------


def machine():
    """Return what the figures were taken on."""
    lines = []
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = models[0] if models else platform.processor() or platform.machine()
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    for module in ("autograd", "jax"):
        if module in sys.modules:
            from importlib.metadata import version

            versions.append(f"{module} {version(module)}")
    return f"{cpu}, {os.cpu_count()} cores, one used; {', '.join(versions)}"


COLUMNS = ("srcgrad", "tape", "text", "autograd", "jax")


def show(rows):
    """Print the ratios of all programs, and their geometric means."""
    columns = [c for c in COLUMNS if any(c in times for times in rows.values())]
    head = " | ".join(f"{c:>8}" for c in columns)
    print(f"| {'program':<20} | {'hand, us':>9} | {head} | srcgrad / autograd |")
    print("| --- | ---: | " + "---: | " * len(columns) + "---: |")
    for name, times in rows.items():
        cells = " | ".join(cell(times, c, "hand", 8) for c in columns)
        by_hand = 1e6 * statistics.median(times["hand"])
        peer = cell(times, "srcgrad", "autograd", 18)
        print(f"| {name:<20} | {by_hand:9.1f} | {cells} | {peer} |")
    means = [f"{c} {mean_ratio(rows, c):.2f}" for c in columns]
    print(f"geometric mean: {', '.join(means)}")


def cell(times, column, base, width):
    there = column in times and base in times
    return f"{ratio(times, column, base):{width}.2f}" if there else " " * width


def mean_ratio(rows, column):
    there = [times for times in rows.values() if column in times]
    return statistics.geometric_mean([ratio(times, column, "hand") for times in there])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="program", help="default: all")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--jax", action="store_true", help="also jax.jit, where it is installed")
    options = parser.parse_args()
    rows = {}
    for name, (args, argnums) in cases().items():
        if not options.names or name in options.names:
            functions = contenders(name, args, argnums, options.jax)
            check(name, functions)
            rows[name] = timings(functions, options.rounds)
    print("value_and_grad per call, in multiples of a hand-written gradient")
    print("(srcgrad: traced at each call; tape: on a GradientTape; text: the generated source)")
    show(rows)
    numpy, ours = import_times()
    times = f"numpy {1e3 * numpy:.0f} ms, srcgrad (with numpy) {1e3 * ours:.0f} ms"
    print(f"import: {times}: {ours / numpy:.2f}x")
    print(machine())


if __name__ == "__main__":
    main()
