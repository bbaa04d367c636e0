"""Programs become text: exact texts of small ones, laws over random ones."""

from __future__ import annotations

import ast
import builtins
import dis
import keyword
import math
import operator
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import special

from srcgrad import runtime
from srcgrad.emit import Program, emit
from srcgrad.emit.expressions import atom, binary, compare, number, unary
from srcgrad.emit.page import WIDTH, wrap
from srcgrad.load import load
from srcgrad.optimize import optimize
from srcgrad.trace import Branch, Guard, Loop, Var, variables

from .traces import Build, random_trace, same

X = np.array([1.0, -2.0, 3.0])
ONE = np.float64(1.0)


def program_of(b, returns, bars=None, **kwargs):
    """The program of what was built, which is called f."""
    trace = b.trace(*dict.fromkeys(variables(returns)))
    return Program("f", trace, returns, frozenset(b.forward), bars or {}, **kwargs)


def body_of(b, returns, bars=None, **kwargs):
    """The text behind ``def f(...)``; it must give what the trace gives."""
    program = program_of(b, returns, bars, **kwargs)
    text = emit(program)
    given = [np.array(a) if type(a) is np.ndarray else a for a in b.arguments]
    got = load(text, "f")(*given)
    wanted = b.of(returns)
    flat = [got] if type(returns) is Var else list(leaves_of(got))
    expected = [wanted] if type(returns) is Var else list(leaves_of(wanted))
    for a, c in zip(flat, expected, strict=True):
        assert a is c is None or same(a, c), (got, wanted)
    assert all(same(a, c) for a, c in zip(given, b.arguments)), "an argument has changed"
    return textwrap.dedent(text.source.split("):\n", 1)[1])


def leaves_of(tree):
    if type(tree) in (tuple, list):
        for item in tree:
            yield from leaves_of(item)
    elif type(tree) is dict:
        yield from leaves_of(list(tree.values()))
    else:
        yield tree


# Single statements --------------------------------------------------------------------------------

ONE_LINE = [
    (lambda b: b(np.add, b.x, b.y), "x + y"),
    (lambda b: b(np.add, 1.0, b.x), "1.0 + x"),
    (lambda b: b(np.add, b.t, b.t), "np.add(t, t)"),
    (lambda b: b(operator.add, b.t, 2.0), "t + 2.0"),
    (lambda b: b(np.power, -2.0, b.x), "(-2.0) ** x"),
    (lambda b: b(np.power, b.x, 2), "x ** 2"),
    (lambda b: b(np.power, b.x, 0.5), "np.power(x, 0.5)"),
    (lambda b: b(operator.pow, b.x, 2.0), "x ** 2.0"),
    (lambda b: b(np.subtract, b.x, b(np.subtract, b.y, b.x)), "x - (y - x)"),
    (lambda b: b(np.subtract, b(np.subtract, b.y, b.x), b.x), "y - x - x"),
    (lambda b: b(np.multiply, b(np.add, b.x, b.y), b(np.negative, b.x)), "(x + y) * -x"),
    (lambda b: b(np.divide, b.x, b(np.multiply, b.x, b.y)), "x / (x * y)"),
    (lambda b: b(np.power, b(np.power, b.x, b.y), 3), "(x ** y) ** 3"),
    (lambda b: b(np.negative, b(np.negative, b.x)), "--x"),
    (lambda b: b(np.matmul, b.A, b(np.matmul, b.A, b.x)), "A @ (A @ x)"),
    (lambda b: b(np.transpose, b.A), "A.T.copy()"),
    (lambda b: b(np.sum, b(np.transpose, b(np.add, b.A, 1.0))), "np.sum((A + 1.0).T)"),
    (lambda b: b(np.transpose, b.A, (0, 1)), "np.transpose(A, (0, 1)).copy()"),
    (lambda b: b(np.logical_and, b(np.less, b.x, 0), b(np.less, b.y, 0)), "(x < 0) & (y < 0)"),
    (lambda b: b(np.logical_not, b(np.less, b.x, b.y)), "~(x < y)"),
    (lambda b: b(np.logical_not, b.x), "np.logical_not(x)"),
    (lambda b: b(operator.not_, b(operator.lt, b.t, 1.0)), "not t < 1.0"),
    (lambda b: b(operator.getitem, b.x, -1), "x[-1]"),
    (lambda b: b(operator.getitem, b.x, slice(1, None)), "x[1:].copy()"),
    (
        lambda b: b(operator.getitem, b.x, (slice(None, None, 2), None, ...)),
        "x[::2, None, ...].copy()",
    ),
    (lambda b: b(operator.getitem, b.x, (b.i,)), "x[i,]"),
    (lambda b: b(operator.getitem, b(np.add, b.x, b.y), 0), "(x + y)[0]"),
    (lambda b: b(np.ndarray.astype, b.x, np.float32), "x.astype(np.float32)"),
    (lambda b: b(np.ndarray.astype, b.x, np.dtype(">f8")), "x.astype(np.dtype('>f8'))"),
    (lambda b: b(np.sum, b.A, axis=(0, 1), keepdims=True), "np.sum(A, axis=(0, 1), keepdims=True)"),
    (lambda b: b(np.stack, [b.x, b.y], axis=1), "np.stack([x, y], axis=1)"),
    (lambda b: b(np.reshape, b(np.sin, b.A), (9,)), "np.reshape(np.sin(A), (9,))"),
    (lambda b: b(np.add.reduce, b.x), "np.add.reduce(x)"),
    (lambda b: b(np.linalg.solve, b.A, b.x), "np.linalg.solve(A, x)"),
    (lambda b: b(np.maximum, b.x, math.inf), "np.maximum(x, np.inf)"),
    (lambda b: b(np.maximum, b.x, -math.inf), "np.maximum(x, -np.inf)"),
    (lambda b: b(np.fmax, b.x, math.nan), "np.fmax(x, np.nan)"),
    (lambda b: b(np.multiply, b.x, -0.0), "x * -0.0"),
    (lambda b: b(np.multiply, b.x, 2j), "x * 2j"),
    (lambda b: b(np.multiply, b.x, complex(0.0, -1.0)), "x * complex(0.0, -1.0)"),
    (lambda b: b(float, b(np.sum, b.x)), "float(np.sum(x))"),
    (lambda b: b(operator.abs, b.x), "abs(x)"),
    (lambda b: b(math.sin, b.t), "math.sin(t)"),
    (lambda b: b(special.erf, b.x), "special.erf(x)"),
    (lambda b: b(np.multiply, b(np.float64, 1.0), b.x), "1.0 * x"),
    (lambda b: b(np.multiply, b(np.float32, 1.0), b.x), "np.float32(1.0) * x"),
    (lambda b: b(np.float64, 1.0), "np.float64(1.0)"),
    (lambda b: b(np.broadcast_to, b(np.sum, b.x), (3,)), "np.full((3,), np.sum(x))"),
    (lambda b: b(np.broadcast_to, b.x, (2, 3)), "np.broadcast_to(x, (2, 3)).copy()"),
    (lambda b: b(runtime.ones, (3,)), "np.ones(3)"),
    (lambda b: b.x, "x.copy()"),
    (lambda b: b.t, "t"),
]


@pytest.mark.parametrize(("build", "wanted"), ONE_LINE, ids=[row[1] for row in ONE_LINE])
def test_one_line(build, wanted):
    b = Build(x=X, y=X + 0.5, A=np.eye(3) + 0.1, t=0.25, i=np.array([2, 0, 2]))
    with np.errstate(all="ignore"):
        assert body_of(b, build(b)) == f"return {wanted}\n"


def worth(function, x, y):
    try:
        return function(x, y)
    except (ZeroDivisionError, OverflowError, TypeError):  # a complex number among them
        return math.nan


def expressions(depth):
    """All expressions over a few operators, nested `depth` times, and what they are worth."""
    if depth == 0:
        yield from ((atom("a"), 3.0), (number(-2.0), -2.0))
        return
    for left, x in expressions(depth - 1):
        yield unary(ast.USub(), "-", left), -x
        for right, y in expressions(0):
            for op, symbol, function in (
                (ast.Add(), "+", operator.add),
                (ast.Sub(), "-", operator.sub),
                (ast.Mult(), "*", operator.mul),
                (ast.Div(), "/", operator.truediv),
                (ast.Pow(), "**", lambda x, y: x**y),
                (ast.Mod(), "%", operator.mod),
            ):
                if abs(x) < 1e3:
                    yield binary(op, symbol, left, right), worth(function, x, y)
                    yield binary(op, symbol, right, left), worth(function, y, x)
        yield compare(ast.Lt(), "<", left, atom("a")), worth(operator.lt, x, 3.0)


def test_brackets_are_right():
    count = 0
    for expr, value in expressions(3):
        if value is None or isinstance(value, complex):
            continue
        try:
            got = eval(expr.text, {"a": 3.0})
        except (ZeroDivisionError, OverflowError, TypeError):
            continue
        if not isinstance(got, complex):
            assert got == value or got != got, expr.text
            count += 1
    assert count > 5000


# Whole functions ----------------------------------------------------------------------------------


def test_names_and_inlining():
    b = Build(x=X, w=X)
    h = b(np.sin, b.x)
    k = b(np.multiply, h, b.w)
    out = b(np.add, b(np.exp, k), b(np.add, h, b(np.cos, k)))
    assert body_of(b, out) == textwrap.dedent("""\
        sin_x = np.sin(x)
        multiply = sin_x * w
        return np.exp(multiply) + (sin_x + np.cos(multiply))
    """)


def test_a_backward_half():
    b = Build(w=X, X=np.arange(6.0).reshape(2, 3), y=np.ones(2))
    logits = b(np.matmul, b.X, b.w)
    p = b(np.logaddexp, 0.0, logits)
    nll = b(np.mean, b(np.subtract, p, b(np.multiply, b.y, logits)))
    b.forward_ends()
    n = b(np.size, b.X, 0)
    e = b(np.subtract, b(np.exp, b(np.subtract, logits, p)), b.y)
    logits_bar = b(np.divide, e, n)
    first = b(np.multiply, 2.0, b.w)
    w_bar = b(np.add, first, b(np.matmul, logits_bar, b.X))
    bars = {logits_bar: logits, first: b.w, w_bar: b.w}
    returns = (nll, (w_bar, b(np.sum, logits_bar)))
    assert body_of(b, returns, bars, output=nll) == textwrap.dedent("""\
        matmul = X @ w
        logaddexp = np.logaddexp(0.0, matmul)
        mean = np.mean(logaddexp - y * matmul)

        # Backward: t_bar is the derivative of mean with respect to t.
        size_X = X.shape[0]
        matmul_bar = (np.exp(matmul - logaddexp) - y) / size_X
        return mean, (2.0 * w + matmul_bar @ X, np.sum(matmul_bar))
    """)


def test_writes_become_in_place_code():
    b = Build(x=X, i=np.array([0, 2, 0]), m=np.array([True, False, True]))
    z = b(runtime.zeros, 3)
    for function, index, value in (
        (runtime.add_at, slice(1, None), b(operator.getitem, b.x, slice(None, -1))),
        (runtime.add_at, b.i, b.x),
        (runtime.add_at, b.m, 1.0),
        (runtime.set_at, 0, 5.0),
    ):
        z = b(function, z, index, value)
    assert body_of(b, z, {z: b.x}) == textwrap.dedent("""\
        x_bar = np.zeros(3)
        x_bar[1:] += x[:-1]
        np.add.at(x_bar, i, x)
        x_bar[m] += 1.0
        x_bar[0] = 5.0
        return x_bar
    """)


def test_what_is_read_later_is_copied_before_a_write():
    b = Build(x=X)
    z = b(np.sin, b.x)
    new = b(runtime.set_at, z, 0, 1.0)
    other = b(runtime.set_at, b.x, 0, 2.0)
    assert body_of(b, (new, z, other)) == textwrap.dedent("""\
        sin_x = np.sin(x)
        set_at = np.array(sin_x)
        set_at[0] = 1.0
        set_at_x = np.array(x)
        set_at_x[0] = 2.0
        return set_at, sin_x, set_at_x
    """)


def test_what_waits_is_written_down_before_a_write():
    b = Build(x=X)
    z = b(np.sin, b.x)
    total = b(np.sum, b(operator.getitem, z, slice(1, None)))
    new = b(runtime.set_at, z, 0, 1.0)
    assert body_of(b, (new, b(np.negative, total))) == textwrap.dedent("""\
        set_at = np.sin(x)
        sum_1 = np.sum(set_at[1:])
        set_at[0] = 1.0
        return set_at, -sum_1
    """).replace("set_at, -sum_1", "set_at, -sum_1")


def test_subtractions_in_place():
    b = Build(x=X, i=np.array([0, 1]))
    z = b(np.zeros, 3)
    z = b(runtime.add_at, z, 0, b(np.negative, b(np.sum, b.x)))
    z = b(runtime.add_at, z, ..., b(np.multiply, b(np.negative, b.x), b.x))
    z = b(runtime.add_at, z, b.i, b(np.negative, b(np.sum, b.x)))
    assert body_of(b, z) == textwrap.dedent("""\
        add_at = np.zeros(3)
        add_at[0] -= np.sum(x)
        add_at[...] -= x * x
        np.add.at(add_at, i, -np.sum(x))
        return add_at
    """)


def test_a_view_that_is_read_later_forbids_the_write():
    b = Build(x=X)
    z = b(np.sin, b.x)
    view = b(operator.getitem, z, slice(1, None))
    new = b(runtime.set_at, z, 0, 1.0)
    assert "np.array(" in body_of(b, (new, b(np.exp, view), b(np.cos, view)))


def test_contributions_from_several_lines_are_added_up():
    b = Build(x=X)
    y = b(np.sin, b.x)
    b.forward_ends()
    first = b(np.multiply, y, 2.0, origin=origin_of(lines, 1))
    second = b(np.multiply, y, 3.0, origin=origin_of(lines, 2))
    x_bar = b(np.add, first, second, origin=origin_of(lines, 2))
    text = body_of(b, (y, x_bar), {first: b.x, x_bar: b.x})
    assert "x_bar = sin_x * 2.0" in text and "x_bar += sin_x * 3.0" in text


def test_several_results():
    b = Build(A=np.eye(3) + 0.1)
    _, logdet = b(np.linalg.slogdet, b.A)
    values, vectors = b(np.linalg.eigh, b.A)
    assert body_of(b, [logdet, values, vectors]) == textwrap.dedent("""\
        _, slogdet_A = np.linalg.slogdet(A)
        eigh_A, eigh_A_1 = np.linalg.eigh(A)
        return [slogdet_A, eigh_A, eigh_A_1]
    """)


def test_returns_of_any_structure():
    b = Build(x=X, t=2.0)
    y = b(np.sin, b.x)
    view = b(operator.getitem, y, slice(1, None))
    returns = {"a": (y, None), "b": [view, 0.0], "c": (b.t,), "d": y}
    assert body_of(b, returns) == textwrap.dedent("""\
        sin_x = np.sin(x)
        part = sin_x[1:]
        return {'a': (sin_x, None), 'b': [part.copy(), 0.0], 'c': (t,), 'd': sin_x.copy()}
    """)


def users(x):
    return x + 1.0


def test_private_globals():
    b = Build(x=X, users=X)
    b(users, b.x)
    y = b(users, b(users, b.x))
    text = emit(program_of(b, b(np.sin, y)))
    assert text.namespace == {"users_1": users}
    assert "    users_1(x)\n" not in text.source  # its result may be read: it has a name
    assert text.source.count("users_1(") == 3


def test_names_that_python_and_numpy_own():
    b = Build(sum=X, abs=X, np=X)
    out = b(np.add, b(np.add, b.sum, b(abs, b.abs)), b.np)
    text = emit(program_of(b, out))
    assert "def f(sum, abs, np_1):" in text.source
    assert "sum + abs_1(abs) + np_1" in text.source
    assert same(load(text, "f")(X, X, X), X + abs(X) + X)


def test_a_guard_has_no_place():
    b = Build(x=X)
    b.steps.append(Guard(len, b.x, 3))
    with pytest.raises(ValueError, match="guard"):
        emit(program_of(b, b.x))


def test_a_returned_variable_must_be_an_output():
    b = Build(x=X)
    y = b(np.sin, b.x)
    with pytest.raises(ValueError, match="no output"):
        emit(Program("f", b.trace(b.x), y))


# Loops and branches -------------------------------------------------------------------------------


def stack_of(n):
    return Var("stack", np.dtype(object), (n,))


def test_a_loop_and_its_adjoint():
    b = Build(x=X, k=X)
    body = Build(h=X, k=X)
    h = body(np.tanh, body(np.multiply, body.h, body.k))
    out, stack = b.x.like(), stack_of(4)
    b.add(Loop(body.trace(h, h), (b.x,), (), (b.k,), (out,), (stack,), count=4))
    b.forward_ends()
    back = Build(g=X, s=X, k_bar=X, h=X)
    inner = back(np.multiply, back.g, back(np.subtract, 1.0, back(np.square, back.h)))
    k_bar = back(np.add, back.k_bar, back(np.multiply, inner, back.s))
    g = back(np.multiply, inner, back.s)
    back.inputs = [back.inputs[0], back.inputs[2], back.inputs[3], back.inputs[1]]
    seed, start = b(np.ones, 3), b(np.zeros, 3)
    outs = (out.like(), out.like())
    step = Loop(back.trace(g, k_bar), (seed, start), (stack,), (b.k,), outs, (), reverse=True)
    b.add(step)
    bars = {seed: out, outs[0]: b.x, outs[1]: b.k, k_bar: b.k, back.k_bar: b.k}
    assert body_of(b, outs, bars, output=out) == textwrap.dedent("""\
        tanh = x
        tanh_stack = []
        for _ in range(4):
            tanh = np.tanh(tanh * k)
            tanh_stack.append(tanh)

        # Backward: t_bar is the derivative of tanh with respect to t.
        tanh_bar = np.ones(3)
        k_bar = np.zeros(3)
        for tanh_1 in reversed(tanh_stack):
            multiply = tanh_bar * (1.0 - np.square(tanh_1))
            k_bar += multiply * k
            tanh_bar = multiply * k
        return tanh_bar, k_bar
    """)


def test_two_stacks_are_read_together():
    b = Build(x=X)
    body = Build(h=X)
    h = body(np.sin, body.h)
    stacks = (stack_of(2), stack_of(2))
    out = b.x.like()
    b.add(Loop(body.trace(h, body.h, body(np.cos, h)), (b.x,), (), (), (out,), stacks, count=2))
    back = Build(g=X, p=X, q=X)
    g = back(np.add, back.g, back(np.multiply, back.p, back.q))
    total = out.like()
    b.add(Loop(back.trace(g), (out,), stacks, (), (total,), (), reverse=True))
    assert body_of(b, total) == textwrap.dedent("""\
        sin = x
        sin_stack = []
        cos_stack = []
        for _ in range(2):
            sin_1 = np.sin(sin)
            sin_stack.append(sin)
            cos_stack.append(np.cos(sin_1))
            sin = sin_1
        for sin_2, cos in zip(reversed(sin_stack), reversed(cos_stack)):
            sin = sin + sin_2 * cos
        return sin
    """)


def test_values_that_change_places():
    b = Build(x=ONE, y=ONE)
    body = Build(p=ONE, q=ONE)
    outs = (b.x.like(), b.x.like())
    inner = body.trace(body.q, body(np.add, body.p, body.q))
    b.add(Loop(inner, (b.x, b.y), (), (), outs, (), count=5))
    assert body_of(b, outs) == textwrap.dedent("""\
        x_1 = x
        add = y
        for _ in range(5):
            x_1, add = add, x_1 + add
        return x_1, add
    """)


@pytest.mark.parametrize("once", [True, False])
def test_while_loops(once):
    b = Build(x=ONE)
    body, test = Build(p=ONE, k=ONE), Build(p=ONE, k=ONE)
    out = b.x.like()
    if once:
        asked = test(np.less, test.p, 9.0)
    else:
        e = test(np.exp, test.p)
        asked = test(np.less, test(np.add, e, test(np.sin, e)), 9.0)
    condition = test.trace(asked)
    inner = body.trace(body(np.add, body.p, body.k))
    b.add(Loop(inner, (b.x,), (), (b.x,), (out,), (), condition=condition))
    wanted = """\
        add = x
        while add < 9.0:
            add = add + x
        return add
    """
    long = """\
        add = x
        while True:
            exp = np.exp(add)
            if not exp + np.sin(exp) < 9.0:
                break
            add = add + x
        return add
    """
    got = body_of(b, out)
    assert got.replace("exp_add", "exp") == textwrap.dedent(wanted if once else long)


@pytest.mark.parametrize("x", [X, -X])
def test_branches(x):
    b = Build(x=x)
    then, orelse = Build(x=x, y=x), Build(x=x, y=x)
    y = b(np.sin, b.x)
    test = b(np.less, b(np.sum, b.x), 0.0)
    outs = (y.like(), y.like())
    arms = (
        then.trace(then(np.multiply, then.x, then.y), then.x),
        orelse.trace(orelse.y, orelse(np.exp, orelse.y)),
    )
    b.add(Branch(test, *arms, (b.x, y), outs))
    assert body_of(b, outs) == textwrap.dedent("""\
        sin_x = np.sin(x)
        if np.sum(x) < 0.0:
            multiply = x * sin_x
            exp = x
        else:
            multiply = sin_x
            exp = np.exp(sin_x)
        return multiply.copy(), exp.copy()
    """)


# Comments, widths, names --------------------------------------------------------------------------


def lines(x):
    h = np.sin(x)
    h = h * 2.0
    for _ in range(2):
        h = np.cos(h)
        h = h + x
    return h


def origin_of(function, line, pick=-1):
    """The origin of the last operation of a line, counted from the def."""
    first = function.__code__.co_firstlineno
    found = [
        i.offset
        for i in dis.get_instructions(function)
        if i.positions.lineno == first + line and i.opname in ("CALL", "BINARY_OP")
    ]
    return (function.__code__, found[pick])


def test_comments_and_passes():
    b = Build(x=X)
    h = b(np.sin, b.x, origin=origin_of(lines, 1))
    h = b(np.multiply, h, 2.0, origin=origin_of(lines, 2))
    for _ in range(2):
        c = b(np.cos, h, origin=origin_of(lines, 4))
        h = b(np.add, c, b.x, origin=origin_of(lines, 5))
        h = b(np.add, h, b(np.square, h))
    b.forward_ends()
    bar = b(np.multiply, h, 2.0, origin=origin_of(lines, 2))
    at = lines.__code__.co_firstlineno
    comments = [f"# test_emit.py:{at + line}" for line in (5, 2)]
    assert body_of(b, (h, bar, b(np.sin, bar)), {bar: h}) == textwrap.dedent(f"""\
        h = np.cos(np.sin(x) * 2.0) + x                          {comments[0]}

        h_1 = np.cos(h + np.square(h)) + x
        add = h_1 + np.square(h_1)

        # Backward: t_bar is the derivative of add with respect to t.
        add_bar = add * 2.0                                      {comments[1]}
        return add, add_bar, np.sin(add_bar)
    """)


def test_the_header_stands_above_the_imports():
    b = Build(x=2.0)
    program = program_of(b, b(math.sin, b.x), header=["srcgrad: f", "  x   float"])
    assert emit(program).source.startswith(
        "# srcgrad: f\n#   x   float\nimport math\nimport numpy as np\n\n\ndef f(x):\n"
    )


def test_wrapping():
    line = "    " + "result = np.stack([" + ", ".join(f"argument_{i}" for i in range(20)) + "])"
    wrapped = wrap(line)
    assert max(map(len, wrapped)) <= WIDTH
    assert ast.dump(ast.parse("\n".join(wrapped).strip())) == ast.dump(ast.parse(line.strip()))


@pytest.mark.parametrize("seed", range(80))
def test_random_programs(seed):
    program, trace = random_trace(seed, 8 + seed % 40)
    b = program.b
    for form in (trace, optimize(trace)):
        made = [v for s in form.steps[: len(form.steps) // 2] for v in s.outs]
        text = emit(Program("f", form, form.outputs, frozenset(made), program.bars))
        check_text(text)
        given = [np.array(a) if type(a) is np.ndarray else a for a in b.arguments]
        with np.errstate(all="ignore"):
            got = load(text, "f")(*given)
            wanted = trace.run(*b.arguments)
        got = got if type(got) is tuple else (got,)
        assert all(map(same, got, wanted)), text.source
        assert all(map(same, given, b.arguments)), "an argument has changed"
        check_memory([a for a in got if type(a) is np.ndarray], given)


def check_text(text):
    """The laws of width and names."""
    assert max(map(len, text.source.splitlines())) <= WIDTH
    assert not re.search(r"[ \t]$", text.source, re.MULTILINE)
    stored = [
        n.id
        for n in ast.walk(ast.parse(text.source))
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    assert not {n for n in stored if n != "_"} & {*dir(builtins), *keyword.kwlist, "np", "math"}


def check_memory(results, given):
    """Nothing that is returned shares memory with anything else."""
    others = [a for a in given if type(a) is np.ndarray]
    for result in results:
        assert result.flags.writeable and 0 not in result.strides
        assert not any(np.shares_memory(result, other) for other in others)
        others.append(result)


def test_the_text_is_the_same_in_every_process():
    code = (
        "from tests.traces import random_trace\nfrom srcgrad.emit import Program, emit\n"
        "for seed in range(5):\n"
        "    p, t = random_trace(seed, 30)\n"
        "    print(emit(Program('f', t, t.outputs, frozenset(), p.bars)).source)\n"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(runs) == 1 and len(runs.pop()) > 500
