"""The passes: what they take out, what they leave alone, and that no value changes."""

from __future__ import annotations

import operator
import time

import numpy as np
import pytest

from srcgrad import runtime
from srcgrad.optimize import algebra, broadcasts, common, dead, optimize
from srcgrad.trace import Branch, Call, Guard, Loop, Trace, Var

from .traces import Build, random_trace, same

X = np.array([1.0, -2.0, 3.0])


def text(trace: Trace) -> list[str]:
    """The steps of a trace, without the head and the return."""
    return [line.strip() for line in str(trace).splitlines()[1:-1]]


# What is simplified: one input x, what is built of it, the steps that are left.
SIMPLER = [
    ("x * 1", lambda b: b(np.multiply, b.x, 1.0), []),
    ("1 * x", lambda b: b(np.multiply, 1, b.x), []),
    ("x / 1", lambda b: b(np.divide, b.x, 1.0), []),
    ("x ** 1", lambda b: b(np.power, b.x, 1.0), []),
    ("+x", lambda b: b(np.positive, b.x), []),
    ("-(-x)", lambda b: b(np.negative, b(np.negative, b.x)), []),
    ("x * -1", lambda b: b(np.multiply, b.x, -1.0), ["b = np.negative(a)"]),
    ("reshape", lambda b: b(np.reshape, b.x, (3,)), []),
    ("sum over nothing", lambda b: b(np.sum, b.x, axis=()), []),
    ("astype", lambda b: b(np.ndarray.astype, b.x, np.float64), []),
    ("broadcast_to", lambda b: b(np.broadcast_to, b.x, (3,)), []),
    ("transposes", lambda b: b(np.transpose, b(np.transpose, b.x)), []),
    ("conj of a real", lambda b: b(np.conj, b.x), []),
    ("real of a real", lambda b: b(np.real, b.x), []),
    ("-x * -x", lambda b: b(np.multiply, *[b(np.negative, b.x)] * 2), ["b = np.multiply(a, a)"]),
    ("x + -x", lambda b: b(np.add, b.x, b(np.negative, b.x)), ["b = np.subtract(a, a)"]),
    ("x - -x", lambda b: b(np.subtract, b.x, b(np.negative, b.x)), ["b = np.add(a, a)"]),
    (
        "x + sin(x) * -x",
        lambda b: b(np.add, b.x, b(np.multiply, b(np.sin, b.x), b(np.negative, b.x))),
        ["b = np.sin(a)", "c = np.multiply(b, a)", "d = np.subtract(a, c)"],
    ),
    (
        "the same twice",
        lambda b: b(np.add, b(np.sin, b.x), b(np.sin, b.x)),
        ["b = np.sin(a)", "c = np.add(b, b)"],
    ),
    (
        "swapped operands",
        lambda b: b(
            np.subtract,
            b(np.multiply, b(np.sin, b.x), b.x),
            b(np.multiply, b.x, b(np.sin, b.x)),
        ),
        ["b = np.sin(a)", "c = np.multiply(b, a)", "d = np.subtract(c, c)"],
    ),
    (
        "the cotangent of a sum",
        lambda b: b(np.multiply, b(np.broadcast_to, b(np.float64, 1.0), (3,)), b.x),
        [],
    ),
    (
        "the cotangent of a mean",
        lambda b: b(
            np.multiply,
            b(np.broadcast_to, b(np.divide, b(np.float64, 1.0), 3), (3,)),
            b(np.sin, b.x),
        ),
        ["b = np.sin(a)", "c = np.divide(b, 3)"],
    ),
    (
        "a full cotangent",
        lambda b: b(np.multiply, b(np.full, (3,), b(np.sum, b.x)), b.x),
        ["b = np.sum(a)", "c = np.multiply(b, a)"],
    ),
    (
        "two broadcasts",
        lambda b: b(np.multiply, b(np.negative, b(np.broadcast_to, b(np.sum, b.x), (3,))), b.x),
        ["b = np.sum(a)", "c = np.negative(b)", "d = np.multiply(c, a)"],
    ),
]


@pytest.mark.parametrize(
    ("build", "left"), [row[1:] for row in SIMPLER], ids=[r[0] for r in SIMPLER]
)
def test_what_is_simplified(build, left):
    b = Build(x=X)
    trace = b.trace(build(b))
    small = optimize(trace).check()
    assert text(small) == left
    assert same(small.run(X)[0], trace.run(X)[0])


def seeded(b):
    return b(np.float64, 1.0)


# What rounds otherwise, below a seed only: the arguments of the steps that are left.
SCALED = [
    ("seed * 0.1", lambda b: b(np.multiply, b(np.multiply, seeded(b), 0.1), b.x), ["0.1", "b, a"]),
    ("-seed", lambda b: b(np.divide, b(np.negative, seeded(b)), b.x), ["-1.0", "b, a"]),
    ("y * (seed / n)", lambda b: b(np.multiply, b.x, b(np.divide, seeded(b), 3)), ["a, 3"]),
    ("y * (seed / x)", lambda b: b(np.multiply, 2.0, b(np.divide, seeded(b), b.x)), ["2.0, a"]),
    (
        "100 * (2 * g)",
        lambda b: b(np.multiply, 100.0, b(np.multiply, 2, b(np.multiply, seeded(b), b.x))),
        ["200.0, a"],
    ),
    (
        "0.5 * seed * (3 * g)",
        lambda b: b(np.multiply, b(np.multiply, 0.5, seeded(b)), b(np.multiply, 3, b(np.sin, b.x))),
        ["a", "1.5, b"],
    ),
    (
        "-(2 * g)",
        lambda b: b(np.negative, b(np.multiply, 2, b(np.multiply, seeded(b), b.x))),
        ["-2, a"],
    ),
    ("g + g", lambda b: b(np.add, *[b(np.multiply, seeded(b), b.x)] * 2), ["2.0, a"]),
    (
        "g / n - x / n",
        lambda b: b(
            np.subtract, b(np.divide, b(np.divide, seeded(b), b.x), 3), b(np.divide, b.x, 3)
        ),
        ["1.0", "b, a", "c, a", "d, 3"],
    ),
]


@pytest.mark.parametrize(("build", "left"), [r[1:] for r in SCALED], ids=[r[0] for r in SCALED])
def test_factors_of_derivatives(build, left):
    b = Build(x=X)
    trace = b.trace(build(b))
    small = optimize(trace).check()
    assert [line.split("(", 1)[1][:-1] for line in text(small)] == left
    assert same(small.run(X)[0], trace.run(X)[0])


# What stays, for a reason each.
KEPT = [
    ("x * 0", lambda b: b(np.multiply, b.x, 0.0)),
    ("x - x", lambda b: b(np.subtract, b.x, b.x)),
    ("x + 0.0 changes -0.0", lambda b: b(np.add, b.x, 0.0)),
    ("a scalar times an array of ones", lambda b: b(np.multiply, b.s, b(np.ones, 3))),
    ("float32 * np.float64(1)", lambda b: b(np.multiply, b.h, b(np.float64, 1.0))),
    ("a cast", lambda b: b(np.ndarray.astype, b.h, np.float64)),
    ("int / 1", lambda b: b(np.divide, b.i, 1)),
    ("+True is 1", lambda b: b(operator.pos, b.t)),
    ("a scalar is no 0-d array", lambda b: b(np.positive, b(np.array, 1.0))),
    ("100 * (2 * x) in the user's code", lambda b: b(np.multiply, 100.0, b(np.multiply, 2, b.x))),
    ("x + x in the user's code", lambda b: b(np.add, b.x, b.x)),
    (
        "(1 / n) * y rounds twice in the user's code",
        lambda b: b(np.multiply, b.x, b(np.divide, 1.0, b.s)),
    ),
    ("complex x * 1 has nan at inf", lambda b: b(np.multiply, b.z, 1.0)),
    ("reversed axes", lambda b: b(np.transpose, b(np.outer, b.x, b.x))),
    ("a sum in float32", lambda b: b(np.sum, b.x, axis=(), dtype=np.float32)),
    (
        "a broadcast that gives the shape",
        lambda b: b(np.arctan2, b(np.broadcast_to, b.s, (3,)), 1.0),
    ),
    ("0.0 and -0.0", lambda b: b(np.arctan2, b(np.multiply, b.x, 0.0), b(np.multiply, b.x, -0.0))),
    ("1 and True", lambda b: b(np.arctan2, b(np.add, b.i, 1), b(np.add, b.i, True))),
    (
        "two buffers",
        lambda b: b(np.add, *(b(runtime.add_at, b(np.zeros, 3), k, 1.0) for k in (0, 1))),
    ),
    ("np.empty", lambda b: b(np.multiply, *(b(np.empty, 0) for _ in range(2)))),
    ("random numbers", lambda b: b(np.add, *(b(np.random.default_rng(0).random) for _ in "ab"))),
    ("a user's function", lambda b: b(np.add, b(users, b.x), b(users, b.x))),
]


def users(x):
    return x * 2.0


@pytest.mark.parametrize("build", [row[1] for row in KEPT], ids=[row[0] for row in KEPT])
def test_what_stays(build):
    b = Build(x=X, s=np.float64(2.0), h=np.float32([1, 2, 3]), i=np.arange(3), t=True, z=X + 1j)
    trace = b.trace(build(b))
    assert optimize(trace) is trace


def test_dead_code_and_guards():
    b = Build(x=X)
    b(users, b.x)
    total = b(np.sum, b.x)
    kept = b(np.cos, b.x)
    b.steps.append(Guard(float, total, float(X.sum())))
    trace = b.trace(b(np.sin, b.x))
    assert text(dead(trace)) == ["b = np.sin(a)"]
    assert text(optimize(trace, keep=(kept,))) == ["b = np.cos(a)", "c = np.sin(a)"]
    assert len(dead(trace, guards=True).steps) == 3


def test_a_kept_variable_is_not_replaced():
    b = Build(x=X)
    kept = b(np.multiply, b.x, 1.0)
    small = optimize(b.trace(b(np.sin, kept)), keep=(kept,))
    assert small.steps[0].outs == (kept,)


def test_outputs_keep_their_places():
    b = Build(x=X)
    trace = b.trace(b(np.multiply, b.x, 1.0), b(np.sin, b.x), b(np.sin, b.x))
    small = optimize(trace)
    assert small.outputs[0] is b.x and small.outputs[1] is small.outputs[2]


def loop_of(count, unused):
    """A loop that carries two values, remembers two and reads one of two constants."""
    body = Build(p=X, q=X, k=X, unused=X)
    p = body(np.multiply, body(np.sin, body.p), 1.0)
    q = body(np.cos, body.q)
    inner = body.trace(p, q, body(np.multiply, body.p, body.k), body.q)
    b = Build(x=X, k=X, u=unused)
    outs = tuple(Var("array", X.dtype, (3,)) for _ in range(2))
    stacked = tuple(Var("stack", np.dtype(object), (count,)) for _ in range(2))
    b.add(Loop(inner, (b.x, b.x), (), (b.k, b.u), outs, stacked, count=count))
    return b, outs, stacked


def test_loops_lose_what_nobody_reads():
    b, outs, stacked = loop_of(3, X)
    trace = b.trace(outs[0], stacked[0])
    small = optimize(trace).check()
    (loop,) = small.steps
    assert isinstance(loop, Loop)
    assert (len(loop.carried), len(loop.stacked), len(loop.constants)) == (1, 1, 1)
    assert [s.function for s in loop.body.steps] == [np.sin, np.multiply]
    for a, c in zip(small.run(X, X, X)[1], trace.run(X, X, X)[1]):
        assert same(a, c)


def test_branches_lose_what_nobody_reads():
    b = Build(x=X, y=X)
    arm = Build(x=X, y=X)
    then = arm.trace(arm(np.multiply, arm.x, 1.0), arm(np.sin, arm.y))
    test = b(np.less, b(np.sum, b.x), 0.0)
    outs = (b.x.like(), b.x.like())
    b.add(Branch(test, then, then, (b.x, b.y), outs))
    trace = b.trace(outs[0])
    small = optimize(trace).check()
    branch = small.steps[-1]
    assert isinstance(branch, Branch)
    assert branch.args == (b.x,) and not branch.then.steps
    assert same(small.run(X, X)[0], X)


@pytest.mark.parametrize("seed", range(60))
def test_no_pass_changes_a_value(seed):
    program, trace = random_trace(seed, 8 + seed % 30)
    arguments = program.b.arguments
    with np.errstate(all="ignore"):
        wanted = trace.run(*arguments)
        for change in (common, algebra, broadcasts, dead, optimize):
            got = change(trace).check().run(*arguments)
            assert all(map(same, wanted, got)), change
        again = optimize(optimize(trace))
    assert len(again.steps) <= len(optimize(trace).steps)


def test_long_traces_take_well_below_a_second():
    b = Build(x=X)
    x = b.x
    for _ in range(3000):
        x = b(np.multiply, b(np.sin, x), 1.0)
    trace = b.trace(x)
    start = time.perf_counter()
    small = optimize(trace)
    assert time.perf_counter() - start < 2.0  # 0.1 s on a quiet machine
    assert len(small.steps) == 3000 and all(type(s) is Call for s in small.steps)
