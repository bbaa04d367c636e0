"""Hand-built Loop and Branch traces: law, meaning, reverse of the reverse, emitted text."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad.differentiate import reverse
from srcgrad.emit import Program, emit
from srcgrad.load import load
from srcgrad.trace import Branch, Call, Input, Loop, Trace, Var


def array() -> Var:
    return Var("array", np.dtype(float), (3,))


def stack() -> Var:
    return Var("stack", np.dtype(object), ())


def power_of_sine(stacked: bool = False) -> Loop:
    """h = sin(w * h), four times."""
    h, w, product, out = array(), array(), array(), array()
    steps = (Call(np.multiply, (w, h), {}, product), Call(np.sin, (product,), {}, out))
    body = Trace((Input(h), Input(w)), steps, (out, out) if stacked else (out,))
    return Loop(
        body, (array(),), (), (array(),), (array(),), (stack(),) if stacked else (), count=4
    )  # fmt: skip


def counted() -> Trace:
    loop = power_of_sine()
    inputs = (Input(loop.carried[0], name="h"), Input(loop.constants[0], name="w"))
    return Trace(inputs, (loop,), loop.outs)


def over_a_stack() -> Trace:
    """The sum of the squares of the values that another loop stacked."""
    first = power_of_sine(stacked=True)
    total, item, square, new = array(), array(), array(), array()
    steps = (Call(np.multiply, (item, item), {}, square), Call(np.add, (total, square), {}, new))
    body = Trace((Input(total), Input(item)), steps, (new,))
    start = array()
    second = Loop(body, (start,), first.stacked, (), (array(),), ())
    inputs = (Input(first.carried[0]), Input(first.constants[0]), Input(start))
    return Trace(inputs, (first, second), second.outs)


def while_loop() -> Trace:
    """h = w * h while the sum of h is below 20."""
    h, w, out = array(), array(), array()
    body = Trace((Input(h), Input(w)), (Call(np.multiply, (w, h), {}, out),), (out,))
    h2, w2, total = array(), array(), Var("scalar", np.dtype(float), ())
    flag = Var("scalar", np.dtype(bool), ())
    condition = Trace(
        (Input(h2), Input(w2)),
        (Call(np.sum, (h2,), {}, total), Call(np.less, (total, 20.0), {}, flag)),
        (flag,),
    )
    start, constant = array(), array()
    loop = Loop(body, (start,), (), (constant,), (array(),), (), condition=condition)
    return Trace((Input(start, name="h"), Input(constant, name="w")), (loop,), loop.outs)


def branch() -> Trace:
    """sin(x) if c else x * x * w."""
    c = Var("bool", np.dtype(bool), ())
    a, b, sine = array(), array(), array()
    d, e, square, out = array(), array(), array(), array()
    then = Trace((Input(a), Input(b)), (Call(np.sin, (a,), {}, sine),), (sine,))
    steps = (Call(np.multiply, (d, d), {}, square), Call(np.multiply, (square, e), {}, out))
    orelse = Trace((Input(d), Input(e)), steps, (out,))
    x, w = array(), array()
    step = Branch(c, then, orelse, (x, w), (array(),))
    inputs = (Input(c, name="c"), Input(x, name="x"), Input(w, name="w"))
    return Trace(inputs, (step,), step.outs)


H, W = np.array([0.3, 0.4, 0.5]), np.array([1.1, 1.9, 1.2])
PROGRAMS = {
    "counted": (counted(), (H, W), (0, 1)),
    "stack": (over_a_stack(), (H, W, np.zeros(3)), (0, 1, 2)),
    "while": (while_loop(), (H + 1, W), (0, 1)),
    "then": (branch(), (True, H, W), (1, 2)),
    "else": (branch(), (False, H, W), (1, 2)),
}
rows = pytest.mark.parametrize("name", PROGRAMS)


def gradient(trace: Trace, values: tuple, wanted: tuple) -> Trace:
    """Return the trace from (inputs, seeds) to the cotangents of the `wanted` inputs."""
    env = trace.values(*values)
    seeds = tuple(np.ones_like(env[v]) for v in trace.outputs)
    sources = tuple(trace.inputs[i].var for i in wanted)
    adjoint = reverse(trace.steps, env, trace.outputs, sources, seeds)
    inputs = trace.inputs + tuple(Input(v, "seed", "seed") for v in adjoint.seeds)
    steps = tuple(adjoint.replaced.get(s, s) for s in trace.steps) + adjoint.steps
    assert None not in adjoint.cotangents or name_is_unconnected(adjoint.cotangents)
    outputs = tuple(v for v in adjoint.cotangents if v is not None)
    return Trace(inputs, steps, outputs).check()


def name_is_unconnected(cotangents: tuple) -> bool:
    return any(v is not None for v in cotangents)


def numerical(trace: Trace, values: tuple, i: int, eps: float = 1e-6) -> np.ndarray:
    result = np.zeros(3)
    for k in range(3):
        step = np.eye(3)[k] * eps
        high = trace.run(*(v + step if j == i else v for j, v in enumerate(values)))
        low = trace.run(*(v - step if j == i else v for j, v in enumerate(values)))
        result[k] = sum(np.sum(a - b) for a, b in zip(high, low, strict=True)) / (2 * eps)
    return result


@rows
def test_first_and_second_order(name: str) -> None:
    trace, values, wanted = PROGRAMS[name]
    trace.check()
    for _ in range(2):
        derivative = gradient(trace, values, wanted)
        seeds = tuple(np.ones_like(v) for v in trace.run(*values))
        found = derivative.run(*values, *seeds)
        for i, g in zip(wanted, found, strict=True):
            np.testing.assert_allclose(g, numerical(trace, values, i), rtol=1e-6, atol=1e-7)
        trace, values = derivative, values + seeds


@rows
def test_emitted_text_is_the_trace(name: str) -> None:
    trace, values, wanted = PROGRAMS[name]
    derivative = gradient(trace, values, wanted)
    text = emit(Program("derivative", derivative, derivative.outputs))
    seeds = tuple(np.ones_like(v) for v in trace.run(*values))
    emitted = load(text, "derivative")(*values, *seeds)
    for a, b in zip(emitted, derivative.run(*values, *seeds), strict=True):
        np.testing.assert_array_equal(a, b)


BROKEN = {
    "read before": lambda x, y, z: Trace((Input(x),), (Call(np.sin, (y,), {}, z),), (z,)),
    "defined twice": lambda x, y, z: Trace((Input(x),), (Call(np.sin, (x,), {}, x),), (x,)),
    "unknown output": lambda x, y, z: Trace((Input(x),), (), (z,)),
    "live array": lambda x, y, z: Trace((Input(x),), (Call(np.add, (x, np.ones(3)), {}, z),), (z,)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_law_is_checked(name: str) -> None:
    with pytest.raises(ValueError, match="read before|defined twice|live array"):
        BROKEN[name](array(), array(), array()).check()


def test_arms_must_fit() -> None:
    x, other = array(), Var("array", np.dtype(float), (4,))
    arm = Trace((Input(a := array()),), (), (a,))
    step = Branch(Var("bool", np.dtype(bool), ()), arm, arm, (x,), (other,))
    with pytest.raises(ValueError, match="is taken"):
        Trace((Input(step.condition), Input(x)), (step,), (other,)).check()
