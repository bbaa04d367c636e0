"""The tape: the tutorial with its values, and the tape section of the contract as tables."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import warnings
import weakref
from collections import namedtuple

import numpy as np
import pytest

import srcgrad
from srcgrad import (
    ArgumentError,
    ConversionError,
    ConversionWarning,
    GradientTape,
    InPlaceError,
    TapeError,
    UnconnectedGradientError,
    UnconnectedGradientWarning,
    UnwatchedError,
    Variable,
    constant,
)


def taped(f, *values, **options):
    """Return a tape on which ``f(*values)`` was recorded, the arrays, and the result."""
    xs = [constant(v) for v in values]
    with GradientTape(**options) as t:
        for x in xs:
            t.watch(x)
        y = f(*xs)
    return t, xs, y


def same(found, expected):
    """Check a nest of results: lists and dicts of `expected` are nests, all else are values."""
    if expected is None:
        assert found is None
    elif type(expected) is dict:
        assert list(found) == list(expected)
        same(list(found.values()), list(expected.values()))
    elif type(expected) is list and type(found) in (list, tuple):
        assert len(found) == len(expected)
        for f, e in zip(found, expected):
            same(f, e)
    else:
        assert found is not None
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


# The tutorial -------------------------------------------------------------------------------------


def test_tutorial_1_one_gradient():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = np.multiply(x, 10)
    dy_dx = t.gradient(y, x)
    assert repr(dy_dx) == "array(10.)"
    assert str(dy_dx) == "10.0"
    assert dy_dx.numpy() == 10.0


def test_tutorial_2_two_gradients_of_one_plain_tape():
    x, y = constant(2.0), constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        t.watch(y)
        z = np.multiply(x, y)
    assert t.gradient(z, x).numpy() == 3.0
    text = (
        "A non-persistent GradientTape can only be used to compute one set of gradients "
        r"\(or jacobians\).*persistent=True"
    )
    with pytest.raises(RuntimeError, match=text):
        t.gradient(z, y)


def test_tutorial_3_two_tapes_in_one_with():
    x, y = constant(2.0), constant(3.0)
    with GradientTape() as t1, GradientTape() as t2:
        t1.watch(x)
        t2.watch(y)
        z = np.multiply(x, y)
    assert t1.gradient(z, x).numpy() == 3.0
    assert t2.gradient(z, y).numpy() == 2.0


def test_tutorial_4_persistent():
    t, (x, y), z = taped(np.multiply, 2.0, 3.0, persistent=True)
    assert t.gradient(z, x).numpy() == 3.0
    assert t.gradient(z, y).numpy() == 2.0


def test_tutorial_5_a_constant_is_watched():
    x = constant(3.0)
    with GradientTape() as g:
        g.watch(x)
        y = 2 * x
    assert g.gradient(y, x).numpy() == 2.0


def test_tutorial_6_a_variable_is_watched_by_itself():
    x = Variable(3.0)
    with GradientTape() as g:
        y = x * x
    assert g.gradient(y, x).numpy() == 6.0


def with_if(x):
    if x <= 0:
        return x * 2
    else:
        return x * x * x


@pytest.mark.parametrize(("n", "text"), [(-3.0, "2.0"), (0.0, "2.0"), (3.0, "27.0")])
def test_tutorial_7_control_flow(n, text):
    x = Variable(n)
    with GradientTape() as g:
        y = with_if(x)
    assert "n = %.1f: gradient = %.1f" % (n, g.gradient(y, x)) == f"n = {n}: gradient = {text}"


def test_tutorial_8_sources_in_any_structure():
    a, b = Variable(3.0), Variable(4.0)
    with GradientTape(persistent=True) as g:
        f = a**2 + 5 * b
    same(g.gradient(f, [a, b]), [6.0, 5.0])
    db, [da] = g.gradient(f, [b, [a]])
    assert db.numpy() == 5.0 and da.numpy() == 6.0


def test_tutorial_9_and_10_arrays_and_intermediate_values():
    x = constant(np.ones((2, 2)))
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = np.sum(x)
        z = np.multiply(y, y)
    dz_dx = t.gradient(z, x)
    assert [dz_dx[i][j].numpy() for i in [0, 1] for j in [0, 1]] == [8.0] * 4
    assert t.gradient(z, y).numpy() == 8.0


def test_tutorial_11_persistent_with_intermediates():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        z = y * y
    assert t.gradient(z, x).numpy() == 108.0
    assert t.gradient(y, x).numpy() == 6.0
    del t


def loop(x, y):
    output = 1.0
    for i in range(y):
        if i > 1 and i < 5:
            output = np.multiply(output, x)
    return output


@pytest.mark.parametrize(("n", "expected"), [(6, 12.0), (5, 12.0), (4, 4.0)])
def test_tutorial_12_loops(n, expected):
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        out = loop(x, n)
    assert t.gradient(out, x).numpy() == expected


def test_tutorial_13_higher_order():
    x = Variable(1.0)
    with GradientTape() as t:
        with GradientTape() as t2:
            y = x * x * x
        dy_dx = t2.gradient(y, x)
    d2y_dx2 = t.gradient(dy_dx, x)
    assert dy_dx.numpy() == 3.0
    assert d2y_dx2.numpy() == 6.0


# Against TensorFlow: programs with the values that tf.GradientTape (float64) gives ----------------

PROGRAMS = []


def program(expected):
    """Take a function as a program, whose result must be `expected`."""

    def add(f):
        PROGRAMS.append(pytest.param(f, expected, id=f.__name__))
        return f

    return add


@program([None, None, 3.0, 2.0])
def each_tape_knows_what_it_watches():
    x, y = constant(2.0), constant(3.0)
    with GradientTape(persistent=True) as t1, GradientTape(persistent=True) as t2:
        t1.watch(x)
        t2.watch(y)
        z = np.multiply(x, y)
    return [t1.gradient(z, y), t2.gradient(z, x), t1.gradient(z, x), t2.gradient(z, y)]


@program([1.0, 1.0])
def what_was_used_before_it_was_watched():
    x, w = constant(2.0), constant(5.0)
    with GradientTape() as t:
        t.watch(w)
        y = x * w
        t.watch(x)
        z = y + x
    assert (
        t.explain(y, x) == "the source was used before it was watched: call t.watch(source) first"
    )
    assert t.gradient(z, [x, w])[1].numpy() == 2.0
    with GradientTape() as t:
        y = x * x
        t.watch(x)
        z = y + x
    return [t.gradient(z, x), constant(1.0)]


@program([4.0, None])
def variables_are_not_watched_unless_accessed():
    v, w = Variable(3.0), Variable(4.0)
    with GradientTape(watch_accessed_variables=False) as t:
        t.watch(v)
        y = v * w
    return t.gradient(y, [v, w])


@program([None, 6.0])
def a_variable_that_is_not_trainable():
    v = Variable(3.0, trainable=False)
    with GradientTape() as t:
        y = v * v
    first = t.gradient(y, v)
    with GradientTape() as t:
        t.watch(v)
        y = v * v
    return [first, t.gradient(y, v)]


@program([10.0, 6.0, 16.0])
def reading_a_variable_before_and_after_it_is_assigned():
    results = []
    v = Variable(3.0)
    with GradientTape() as t:
        v.assign(5.0)
        y = v * v
    results.append(t.gradient(y, v))
    v = Variable(3.0)
    with GradientTape() as t:
        y = v * v
        v.assign(5.0)
    results.append(t.gradient(y, v))
    v = Variable(3.0)
    with GradientTape() as t:
        y = v * v
        v.assign(5.0)
        z = y + v * v
    results.append(t.gradient(z, v))
    return results


@program([16.0, None])
def a_variable_assigned_a_recorded_value():
    v, x = Variable(3.0), constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        v.assign(x * 4.0)
        z = v * v
    return t.gradient(z, [v, x])


@program([14.0, 4.0])
def a_variable_updated_between_reads():
    v = Variable(3.0)
    with GradientTape() as t:
        y = v * 2.0
        v.assign_add(1.0)
        z = y * v
    return [t.gradient(z, v), v]


@program([0.512, 1.024])
def descent_by_assign_sub():
    v = Variable([1.0, 2.0])
    for _ in range(3):
        with GradientTape() as t:
            y = np.sum(v * v)
        v.assign_sub(0.1 * t.gradient(y, v))
    return v


@program([9.0, {"f": 6.0, "h": [4.0, 3.0]}, 3.0])
def several_targets_are_summed():
    a, b = Variable(3.0), Variable(4.0)
    with GradientTape(persistent=True) as g:
        f = a**2
        h = a * b
    return [
        g.gradient([f, h], [a, b])[0] - 1.0,
        {"f": g.gradient({"f": f}, a), "h": list(g.gradient((h,), (a, b)))},
        g.gradient((f, [h]), b),
    ]


@program([6.0, 6.0, 12.0])
def a_source_twice_a_target_twice():
    a = Variable(3.0)
    with GradientTape(persistent=True) as g:
        f = a**2
    return [*g.gradient(f, [a, a]), g.gradient([f, f], a)]


@program([1.0, 1.0, 1.0])
def a_target_that_is_the_source():
    x, v, w = constant(2.0), Variable(2.0), Variable(2.0)
    with GradientTape(persistent=True) as t:
        y = v * v
    return [t.gradient(x, x), t.gradient(v, v), t.gradient(w, w)]


@program([8.0, 2.0])
def source_and_intermediate_at_once():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = x * x
        z = y * x
    dx, dy = t.gradient(z, [x, y])
    return [dx - 4.0, dy]


@program([3.0, 1.5])
def floor_and_stop_gradient():
    t, (x,), y = taped(lambda x: np.floor(x) * x + 2.0 * x, 1.5)
    t2, (x2,), y2 = taped(lambda x: srcgrad.stop_gradient(x) * x, 1.5)
    return [t.gradient(y, x), t2.gradient(y2, x2)]


@program([6.0, None, 6.0])
def while_the_tape_is_stopped():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            z = y * x
        w = y + z
    return [t.gradient(y, x), t.gradient(z, x), t.gradient(w, x)]


@program(6.0)
def a_gradient_while_the_tape_is_stopped():
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            g = t.gradient(y, x)
        assert srcgrad.capture.recorder.live.recorders == ()
        x * x
    return g


@program([None, 9.0, None, 5.0])
def after_reset():
    x, v = constant(3.0), Variable(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        t.reset()
        z = x * 5.0
        first = t.gradient(z, x)
        t.reset()
        t.watch(x)
        z = y * x
        u = v * 5.0
    return [first, t.gradient(z, x), t.gradient(y, x), t.gradient(u, v)]


@program([27.0, 6.0, None, 6.0])
def entered_again():
    x = constant(3.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
    w = y * x
    with t:
        z = y * x
        u = w + y
    return [t.gradient(z, x), t.gradient(y, x), t.gradient(w, x), t.gradient(u, x)]


@program(6.0)
def an_error_in_the_block():
    x = constant(3.0)
    with pytest.raises(KeyError):
        with GradientTape() as t:
            t.watch(x)
            y = x * x
            raise KeyError("boom")
    return t.gradient(y, x)


@program([32.0, 48.0, 48.0])
def three_tapes():
    x = constant(2.0)
    with GradientTape() as a:
        a.watch(x)
        with GradientTape() as b:
            b.watch(x)
            with GradientTape() as c:
                c.watch(x)
                y = x**4
            d1 = c.gradient(y, x)
        d2 = b.gradient(d1, x)
    return [d1, d2, a.gradient(d2, x)]


@program(None)
def an_inner_gradient_taken_too_late():
    x = Variable(1.0)
    with GradientTape() as t:
        with GradientTape() as t2:
            y = x * x * x
    dy = t2.gradient(y, x)
    return t.gradient(dy, x)


@program([80.0, 160.0, 240.0, 240.0])
def a_persistent_tape_records_its_own_gradients():
    x = constant(2.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x**5
        d1 = t.gradient(y, x)
        d2 = t.gradient(d1, x)
        d3 = t.gradient(d2, x)
    return [d1, d2, d3, t.gradient(d3, x)]


@program([81.0, 272.0])
def a_gradient_penalty():
    w, x = Variable([1.0, 2.0]), constant([3.0, 4.0])
    with GradientTape() as outer:
        with GradientTape() as inner:
            inner.watch(x)
            y = np.sum(w * x * x)
        gx = inner.gradient(y, x)
        loss = y + np.sum(gx * gx)
    return outer.gradient(loss, w)


@program([32.0, 8.0, 32.0])
def an_inner_tape_on_a_value_of_an_outer_one():
    x = constant(2.0)
    with GradientTape(persistent=True) as outer:
        outer.watch(x)
        y = x * x
        with GradientTape() as inner:
            inner.watch(y)
            z = y * y
        g = inner.gradient(z, y)
    return [outer.gradient(z, x), outer.gradient(g, x), outer.gradient(z, x)]


@program([4.0, 12.0])
def an_inner_tape_while_the_outer_is_stopped():
    x = Variable(2.0)
    with GradientTape() as outer:
        with outer.stop_recording():
            with GradientTape() as inner:
                y = x * x
            g = inner.gradient(y, x)
        z = g * x
    return [outer.gradient(z, x), constant(12.0)]


@program([[4.0, 6.0], None, None])
def slices_as_sources():
    t, (x,), (s, y) = taped(lambda x: (x[1:], np.sum(x[1:] ** 2)), [1.0, 2.0, 3.0], persistent=True)
    x2 = constant([1.0, 2.0, 3.0])
    with GradientTape(persistent=True) as t2:
        t2.watch(x2)
        s2 = x2[1:]
        y2 = np.sum(s2 * s2)
    return [t2.gradient(y2, s2), t.gradient(y, s), t.gradient(y, x[1:])]


@program([None, None, None])
def what_leaves_the_record():
    t, (x,), _ = taped(lambda x: x * x, 3.0, persistent=True)
    after = x * x
    t2, (x2,), y2 = taped(lambda x: constant(x.numpy()) * 2.0, 3.0)
    t3, (x3,), y3 = taped(lambda x: x.astype(int).astype(float) * 2.0, 3.7)
    return [t.gradient(after, x), t2.gradient(y2, x2), t3.gradient(y3, x3)]


@program([25.62890625, 136.6875])
def a_while_loop():
    x = constant(1.5)
    with GradientTape() as t:
        t.watch(x)
        y = x
        while y < 20.0:
            y = y * y
    return [y, t.gradient(y, x)]


@program([[[70.0, 168.0], [170.0, 312.0]], [116.0, 264.0], 128.0])
def broadcasting_is_undone():
    a, b, c = Variable([[1.0, 2.0], [3.0, 4.0]]), Variable([5.0, 6.0]), Variable(2.0)
    with GradientTape() as t:
        y = (a * b + c) ** 2
    return [*t.gradient(y, [a, b, c])]


@program([[2.0, 4.0], [12.0, 16.0]])
def rows_of_an_array():
    t, (x,), y = taped(
        lambda x: sum(np.sum(row * row) * (i + 1) for i, row in enumerate(x)),
        [[1.0, 2.0], [3.0, 4.0]],
    )
    return t.gradient(y, x)


@program([200.0, [4.0, 7.0]])
def functions_with_a_gradient_of_their_own():
    @srcgrad.custom_gradient
    def square(x):
        return x * x, lambda up: up * 100.0

    @srcgrad.custom_gradient
    def product(x, y):
        return x * y, lambda up: (up * y, up * 7.0)

    t, (x,), y = taped(lambda x: square(x) * 2.0, 3.0)
    t2, xs, z = taped(product, 3.0, 4.0)
    return [t.gradient(y, x), t2.gradient(z, xs)]


@program([0.7310585786300049, 0.19661193324148185])
def a_custom_gradient_differentiated_again():
    @srcgrad.custom_gradient
    def log1pexp(x):
        e = np.exp(x)
        return np.log(1 + e), lambda up: up * (1 - 1 / (1 + e))

    x = constant(1.0)
    with GradientTape() as o:
        o.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = log1pexp(x)
        d = t.gradient(y, x)
    return [d, o.gradient(d, x)]


@program([4.0, 20.0])
def each_tape_has_the_value_of_its_time():
    v = Variable(2.0)
    with GradientTape() as a:
        y = v * v
    v.assign(10.0)
    with GradientTape() as b:
        z = v * v
    return [a.gradient(y, v), b.gradient(z, v)]


@program([12.0, 4.0])
def the_output_gradient_is_recorded_too():
    x, s = constant(2.0), constant(3.0)
    with GradientTape() as o:
        o.watch(s)
        with GradientTape() as t:
            t.watch(x)
            y = x * x
        d = t.gradient(y, x, output_gradients=s)
    return [d, o.gradient(d, s)]


@program([3.0 + 4.0j, 6.0 + 8.0j, 6.0 - 8.0j])
def complex_numbers_have_the_conjugate_convention():
    z = constant(3 + 4j)
    with GradientTape(persistent=True) as t:
        t.watch(z)
        y = np.abs(z) ** 2
        w = z * z
    return [z, t.gradient(y, z), t.gradient(w, z)]


@pytest.mark.filterwarnings("ignore::srcgrad.UnconnectedGradientWarning")
@pytest.mark.parametrize(("run", "expected"), PROGRAMS)
def test_program(run, expected):
    same(run(), expected)


# Watching -----------------------------------------------------------------------------------------

Pair = namedtuple("Pair", "w b")  # noqa: PYI024  (the kind that has no types)


def test_watch_gives_back_what_it_was_given():
    x = constant(2.0)
    with GradientTape() as t:
        assert t.watch(x) is x


@pytest.mark.parametrize(
    "given",
    [2.0, np.float64(2.0), np.float32(2.0), np.array([1.0, 2.0]), [1.0, 2.0], {"a": 1.0},
     (1.0, [2.0]), Pair(np.ones(2), 1.0), 1 + 2j],
    ids=repr,
)  # fmt: skip
def test_watch_of_plain_values_gives_the_arrays_to_use(given):
    with GradientTape() as t:
        x = t.watch(given)
        leaves = srcgrad.tree.flatten(x)[0]
        y = sum(np.sum(np.real(leaf * leaf)) for leaf in leaves)
    g = t.gradient(y, x)
    expected = [2 * np.conj(v) for v in srcgrad.tree.flatten(given)[0]]
    assert type(g) is type(x) or type(given) not in (list, tuple, dict)
    for found, e in zip(srcgrad.tree.flatten(g)[0], expected):
        np.testing.assert_array_equal(found.numpy(), e)
        assert found.dtype == np.result_type(e)


def test_watch_of_a_plain_array_copies_it():
    a = np.ones(2)
    with GradientTape() as t:
        x = t.watch(a)
        a[:] = 7.0
        y = np.sum(x * x)
    assert t.gradient(y, x).numpy().tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "given",
    [3, True, np.arange(3), np.array(["a"]), None, "text", [1.0, 2], constant([1, 2])],
    ids=repr,
)
def test_watch_refuses_what_has_no_derivative(given):
    with GradientTape() as t, pytest.raises(TypeError, match=r"test_tape\.py:\d+"):
        t.watch(given)


def test_watch_of_an_int_says_what_to_write():
    with GradientTape() as t:
        with pytest.raises(ArgumentError, match=r"int 3.*Make it a float: 3\.0"):
            t.watch(3)
        with pytest.raises(ArgumentError, match=r"int64.*astype\(float\)"):
            t.watch(np.arange(3))


def test_watch_outside_of_the_block():
    t = GradientTape()
    with pytest.raises(RuntimeError, match=r"outside of the tape's block, in .*test_tape\.py:\d+"):
        t.watch(constant(1.0))
    with t:
        pass
    with pytest.raises(RuntimeError, match="outside"):
        t.watch(constant(1.0))


@pytest.mark.parametrize("plain", [3.0, np.ones(2), np.float64(1.0), [np.ones(2)], 1, None])
@pytest.mark.parametrize("what", ["source", "target"])
def test_a_plain_array_as_source_or_target(plain, what):
    t, (x,), y = taped(lambda x: x * x, 2.0)
    args = (y, plain) if what == "source" else (plain, x)
    with pytest.raises(UnwatchedError, match=rf"{what}.*test_tape\.py:\d+"):
        t.gradient(*args)
    assert t.gradient(y, x).numpy() == 4.0  # a call that failed uses nothing up


def test_a_plain_array_as_source_names_the_call_of_watch():
    a = np.ones(2)
    with GradientTape() as t:
        t.watch(a)
        y = np.sum(a * a)
    with pytest.raises(
        TypeError, match=r"watch\(\) was called in .*test_tape\.py.*x = t.watch\(x\)"
    ):
        t.gradient(y, a)


# Variables and constants --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3.0, None, np.array(3.0)),
        (3, None, np.array(3)),
        ([1.0, 2.0], None, np.array([1.0, 2.0])),
        ([[1, 2]], np.float32, np.array([[1, 2]], np.float32)),
        (np.float32(2.0), None, np.array(2.0, np.float32)),
        (1 + 2j, None, np.array(1 + 2j)),
        (np.ones(2, np.float16), float, np.ones(2)),
    ],
)
@pytest.mark.parametrize("make", [constant, Variable])
def test_constants_and_variables_hold_arrays(make, value, dtype, expected):
    x = make(value, dtype=dtype)
    assert x.dtype == expected.dtype
    assert x.shape == expected.shape
    assert x.ndim == expected.ndim
    assert type(x.numpy()) is np.ndarray
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize("make", [constant, Variable])
def test_constants_and_variables_copy_what_they_are_given(make):
    a = np.ones(2)
    x = make(a)
    a[0] = 7.0
    assert x.numpy().tolist() == [1.0, 1.0]
    x.numpy()[0] = 9.0
    assert x.numpy().tolist() == [1.0, 1.0]


@pytest.mark.parametrize("make", [constant, Variable])
@pytest.mark.parametrize("value", ["text", [object()], None, ["a", "b"]])
def test_constants_and_variables_hold_numbers(make, value):
    with pytest.raises(TypeError, match=r"dtype.*test_tape\.py"):
        make(value)


def test_a_constant_of_recorded_values():
    x = constant(2.0)
    assert constant(x).numpy() == 2.0
    assert constant([x, x]).numpy().tolist() == [2.0, 2.0]


def test_the_attributes_of_a_variable():
    v = Variable([[1.0, 2.0]], trainable=False, dtype=np.float32, name="w")
    assert (v.shape, v.dtype, v.ndim, v.name, v.trainable) == ((1, 2), np.float32, 2, "w", False)
    assert Variable(1.0).name is None and Variable(1.0).trainable


def test_assignments_return_the_variable():
    v = Variable([1.0, 2.0])
    assert v.assign([3.0, 4.0]) is v
    assert v.numpy().tolist() == [3.0, 4.0]
    assert v.assign_add([1.0, 1.0]) is v
    assert v.numpy().tolist() == [4.0, 5.0]
    assert v.assign_sub(np.array([1.0, 1.0])) is v
    assert v.numpy().tolist() == [3.0, 4.0]


def test_an_assignment_keeps_the_dtype():
    v = Variable([1.0, 2.0], dtype=np.float32)
    v.assign([3, 4])
    assert v.dtype == np.float32
    v.assign_add(np.array([1.0, 1.0]))
    assert v.dtype == np.float32


def test_an_assignment_copies():
    v, a = Variable([1.0, 2.0]), np.array([5.0, 6.0])
    v.assign(a)
    a[:] = 0.0
    assert v.numpy().tolist() == [5.0, 6.0]


@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
@pytest.mark.parametrize("value", [[1.0, 2.0, 3.0], [[1.0, 2.0]], 1.0])
def test_an_assignment_keeps_the_shape(method, value):
    v = Variable([1.0, 2.0])
    with pytest.raises(ValueError, match=r"shape \(2,\).*test_tape\.py:\d+"):
        getattr(v, method)(value)
    assert v.numpy().tolist() == [1.0, 2.0]


def iadd(v):
    v += 1.0


def imul(v):
    v *= 2.0


def set_item(v):
    v[0] = 1.0


@pytest.mark.parametrize("write", [iadd, imul, set_item, lambda v: v.sort(), lambda v: v.fill(0.0)])
@pytest.mark.parametrize("inside", [True, False])
def test_a_variable_is_not_written_in_place(write, inside):
    v = Variable([1.0, 2.0])
    with pytest.raises(InPlaceError, match=r"test_tape\.py:\d+.*assign"):
        if inside:
            with GradientTape():
                write(v)
        else:
            write(v)
    assert v.numpy().tolist() == [1.0, 2.0]


def test_a_variable_that_the_backward_pass_needs_keeps_its_old_value_there():
    """Not watched, so a plain operand of the step: the value of its time must be kept."""
    x, v = constant(2.0), Variable(3.0)
    for options in ({}, {"watch_accessed_variables": False}):
        v.assign(3.0)
        with GradientTape(**options) as t:
            t.watch(x)
            y = x * v
            v.assign(100.0)
        v.assign(200.0)
        assert t.gradient(y, x).numpy() == 3.0


def test_watched_variables():
    a, b, c = Variable(1.0), Variable(2.0), Variable(3.0, trainable=False)
    with GradientTape() as t:
        assert t.watched_variables() == ()
        b * a
        a + c
        assert t.watched_variables() == (b, a)
        t.watch(c)
    assert [v.numpy() for v in t.watched_variables()] == [2.0, 1.0, 3.0]
    assert all(v is w for v, w in zip(t.watched_variables(), (b, a, c)))


def test_variables_are_told_apart_by_identity():
    a, b = Variable(1.0), Variable(1.0)
    assert {a: "a", b: "b"}[a] == "a"
    assert len({a, b}) == 2
    before = hash(a)
    a.assign(5.0)
    assert hash(a) == before


@pytest.mark.parametrize("name", ["sum", "mean", "T", "real", "copy", "flatten", "astype"])
def test_a_method_of_a_variable_reads_it(name):
    v = Variable([1.0, 2.0])
    with GradientTape() as t:
        attribute = getattr(v, name)
        y = (
            attribute(float)
            if name == "astype"
            else attribute()
            if callable(attribute)
            else attribute
        )
        y = np.sum(y * y)
    assert np.all(t.gradient(y, v).numpy() != 0.0)


def test_arrays_pickle_and_copy():
    x, v = constant([1.0, 2.0]), Variable([1.0, 2.0], name="w", trainable=False)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), x.numpy())
    for w in (pickle.loads(pickle.dumps(v)), copy.deepcopy(v)):
        assert type(w) is Variable and w is not v
        assert (w.name, w.trainable, w.numpy().tolist()) == ("w", False, [1.0, 2.0])
        w.assign([5.0, 5.0])
        assert v.numpy().tolist() == [1.0, 2.0]


def test_representations():
    assert repr(constant([1.0, 2.0])) == "array([1., 2.])"
    assert repr(Variable([1.0, 2.0], name="w")) == "Variable([1., 2.], name='w')"
    assert f"{constant(2.0):.3f} {Variable(1.5):.1f}" == "2.000 1.5"


# Gradients ----------------------------------------------------------------------------------------


def test_the_result_has_the_nest_of_the_sources():
    a, b = Variable(3.0), Variable([1.0, 2.0])
    with GradientTape(persistent=True) as t:
        y = np.sum(a * b * b)
    for nest in ([a, b], (a, b), {"a": a, "b": [b]}, Pair(a, b), [a, {"b": (b,)}], a):
        g = t.gradient(y, nest)
        leaves, structure = srcgrad.tree.flatten(nest)
        found, same_structure = srcgrad.tree.flatten(g)
        assert same_structure == structure
        for f, source in zip(found, leaves):
            expected = 5.0 if source is a else [6.0, 12.0]
            np.testing.assert_array_equal(f.numpy(), expected)
    assert t.gradient(y, []) == []
    assert type(t.gradient(y, Pair(a, b))) is Pair


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble, np.complex64])
@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (0,)])
def test_the_result_has_the_dtype_and_shape_of_the_source(dtype, shape):
    t, (x,), y = taped(lambda x: np.real(np.sum(np.exp(x) * 2.0)), np.ones(shape, dtype))
    g = t.gradient(y, x)
    assert (g.dtype, g.shape) == (np.dtype(dtype), shape)
    assert type(g.numpy()) is np.ndarray


def test_results_can_be_used_as_arrays():
    t, (x,), y = taped(lambda x: np.sum(x * x), np.arange(6.0).reshape(2, 3))
    g = t.gradient(y, x)
    assert type(g[0][1].numpy()) in (np.ndarray, np.float64)
    assert "%.1f" % g[1][2] == "10.0"
    assert float(g[0][1]) == 2.0
    assert np.asarray(g).tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert (g + 1.0).numpy()[0, 0] == 1.0
    assert [float(v) for v in g[0]] == [0.0, 2.0, 4.0]


def test_output_gradients():
    def f(x):
        return x * x, np.sum(x)

    t, (x,), (y, z) = taped(f, [1.0, 2.0], persistent=True)
    cases = [
        (y, np.array([10.0, 100.0]), [20.0, 400.0]),
        (y, [10.0, 100.0], None),
        (y, constant([10.0, 100.0]), [20.0, 400.0]),
        ([y, z], [constant([10.0, 100.0]), constant(5.0)], [25.0, 405.0]),
        ([y, z], [None, 5.0], [7.0, 9.0]),
        ({"y": y, "z": z}, {"y": np.zeros(2), "z": 1.0}, [1.0, 1.0]),
        (y, None, [2.0, 4.0]),
    ]
    for target, given, expected in cases:
        if expected is None:
            with pytest.raises(ValueError, match="structure"):
                t.gradient(target, x, output_gradients=given)
        else:
            same(t.gradient(target, x, output_gradients=given), expected)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (np.ones(3), r"shape \(3,\), the target \(2,\)"),
        (1.0, r"shape \(\), the target \(2,\)"),
        ([np.ones(2)], "structure"),
        ({"a": np.ones(2)}, "structure"),
    ],
)
def test_output_gradients_fit_exactly(given, text):
    t, (x,), y = taped(lambda x: x * x, [1.0, 2.0])
    with pytest.raises(ValueError, match=text):
        t.gradient(y, x, output_gradients=given)
    assert t.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_output_gradients_of_a_real_target_are_real():
    t, (x,), y = taped(lambda x: x * x, [1.0, 2.0])
    with pytest.raises(ValueError, match="complex"):
        t.gradient(y, x, output_gradients=np.array([1j, 1.0]))


def test_output_gradients_are_conjugated_for_complex_targets():
    t, (z,), w = taped(lambda z: z * z, 1 + 2j, persistent=True)
    for one in (2 - 1j, constant(2 - 1j)):
        assert t.gradient(w, z, output_gradients=one).numpy() == np.conj(2 * (1 + 2j)) * (2 - 1j)


# No gradient --------------------------------------------------------------------------------------


def not_watched(t, x):
    return constant(1.0) * x, x


def used_before_watched(t, x):
    y = x * x
    t.watch(x)
    return y, x


def fresh_slice(t, x):
    x = t.watch(constant([1.0, 2.0]))
    return np.sum(x), x[1:]


def integers_on_the_path(t, x):
    t.watch(x)
    return x.astype(int).astype(float) * 2.0, x


def integer_target(t, x):
    t.watch(x)
    return np.argmax(x), x


def comparison(t, x):
    t.watch(x)
    return x > 1.0, x


def not_computed_from(t, x):
    w = t.watch(constant(3.0))
    t.watch(x)
    return w * w, x


def left_as_float(t, x):
    t.watch(x)
    return constant(float(x)) * 2.0, x


def left_by_numpy(t, x):
    t.watch(x)
    return constant(x.numpy()) * 2.0, x


def left_by_assign(t, x):
    t.watch(x)
    v = Variable(0.0)
    v.assign(x)
    return v * 2.0, x


def cut_by_stop_gradient(t, x):
    t.watch(x)
    return srcgrad.stop_gradient(x) * 2.0, x


REASONS = [
    (not_watched, r"not watched.*t\.watch"),
    (used_before_watched, "used before it was watched"),
    (fresh_slice, "fresh slice"),
    (integers_on_the_path, "integers or comparisons lie between"),
    (integer_target, "int or a bool"),
    (comparison, "int or a bool"),
    (not_computed_from, "not computed from the source"),
    (left_as_float, r"float\(\).*test_tape\.py:\d+"),
    (left_by_numpy, r"numpy\(\).*test_tape\.py:\d+"),
    (left_by_assign, r"assign\(\).*test_tape\.py:\d+"),
    (cut_by_stop_gradient, r"stop_gradient.*test_tape\.py:\d+"),
]


@pytest.mark.filterwarnings("ignore::srcgrad.ConversionWarning")
@pytest.mark.parametrize(("block", "text"), REASONS, ids=lambda v: getattr(v, "__name__", ""))
def test_the_warning_says_why_there_is_no_gradient(block, text):
    x = constant(2.0)
    with GradientTape(persistent=True) as t:
        y, source = block(t, x)
    with pytest.warns(UnconnectedGradientWarning, match=text):
        assert t.gradient(y, source) is None
    assert text.split(".*")[0].replace("\\", "") in t.explain(y, source)
    with pytest.raises(UnconnectedGradientError, match=text):
        t.gradient(y, source, unconnected_gradients="raise")
    assert t.gradient(y, source, unconnected_gradients="none") is None
    zero = t.gradient(y, source, unconnected_gradients="zero")
    assert zero.numpy().tolist() == np.zeros(source.shape).tolist()
    with pytest.warns(UnconnectedGradientWarning, match=text):
        assert t.jacobian(y, source) is None


def test_recorded_after_the_tape_stopped():
    t, (x,), _ = taped(lambda x: x * x, 2.0)
    y = x * x
    with pytest.warns(UnconnectedGradientWarning, match="recorded after the tape stopped"):
        assert t.gradient(y, x) is None


def test_a_source_made_after_the_tape_stopped():
    t, (x,), y = taped(lambda x: np.sum(x * x), [2.0, 3.0], persistent=True)
    with pytest.warns(UnconnectedGradientWarning, match="fresh slice, made after the tape stopped"):
        assert t.gradient(y, x[:1]) is None
    with pytest.warns(UnconnectedGradientWarning, match="after the tape stopped"):
        assert t.gradient(y, constant(1.0)) is None


def test_only_the_unconnected_source_is_none():
    t, (x, w), y = taped(lambda x, w: x * x, 2.0, [1.0, 2.0], persistent=True)
    with pytest.warns(UnconnectedGradientWarning, match="not computed from"):
        dx, dw = t.gradient(y, [x, w])
    assert dx.numpy() == 4.0 and dw is None
    dx, dw = t.gradient(y, [x, w], unconnected_gradients="zero")
    assert dx.numpy() == 4.0 and dw.numpy().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="not computed from"):
        t.gradient(y, [x, w], unconnected_gradients="raise")


def test_an_error_for_an_unconnected_source_uses_nothing_up():
    t, (x, w), y = taped(lambda x, w: x * x, 2.0, 3.0)
    with pytest.raises(ValueError):
        t.gradient(y, [x, w], unconnected_gradients="raise")
    assert t.gradient(y, x).numpy() == 4.0


def test_an_unknown_word_for_unconnected_gradients():
    t, (x,), y = taped(lambda x: x * x, 2.0)
    for call in (t.gradient, t.jacobian, t.batch_jacobian):
        with pytest.raises(ValueError, match=r"'nonsense'.*'none', 'zero' or 'raise'"):
            call(y, x, unconnected_gradients="nonsense")
    assert t.gradient(y, x).numpy() == 4.0


def test_explain_where_there_is_a_gradient():
    t, (x,), y = taped(lambda x: x * x, 2.0)
    assert t.explain(y, x) == "the target depends on the source"
    t.gradient(y, x)
    assert "freed" in t.explain(y, x)


# Jacobians ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x * x, [1.0, 2.0]),
        (lambda x: np.sum(x * x), [1.0, 2.0]),
        (lambda x: x * np.array([1.0, 2.0]), 2.0),
        (lambda x: x @ x, [[1.0, 2.0], [3.0, 4.0]]),
        (lambda x: x[:0], [1.0, 2.0]),
        (lambda x: np.outer(x, x), [1.0, 2.0, 3.0]),
    ],
)
def test_jacobian(f, x):
    t, (x,), y = taped(f, x)
    found = t.jacobian(y, x).numpy()
    a = x.numpy()
    assert found.shape == np.shape(y) + a.shape
    for index in np.ndindex(a.shape):
        step = np.zeros_like(a)
        step[index] = 1e-6
        expected = (np.asarray(f(a + step)) - np.asarray(f(a - step))) / 2e-6
        np.testing.assert_allclose(found[(..., *index)], expected, rtol=1e-6, atol=1e-8)


def test_jacobian_of_a_nest_of_sources():
    t, (x, w, u), y = taped(
        lambda x, w, u: x * w, [1.0, 2.0], [[3.0], [4.0]], [1.0], persistent=True
    )
    j = t.jacobian(y, {"x": x, "w": [w]})
    assert j["x"].shape == (2, 2, 2) and j["w"][0].shape == (2, 2, 2, 1)
    assert t.jacobian(y, u, unconnected_gradients="none") is None
    assert t.jacobian(y, [x, u], unconnected_gradients="zero")[1].shape == (2, 2, 1)
    with pytest.raises(ValueError, match="not computed from"):
        t.jacobian(y, u, unconnected_gradients="raise")


def test_a_jacobian_uses_a_plain_tape_up():
    t, (x,), y = taped(lambda x: x * x, [1.0, 2.0])
    t.jacobian(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        t.gradient(y, x)
    t, (x,), y = taped(lambda x: x * x, [[1.0, 2.0]])
    t.batch_jacobian(y, x)
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.jacobian(y, x)


def test_hessian_by_two_tapes():
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        with GradientTape() as t2:
            t2.watch(x)
            y = np.sum(x * x * x) + x[0] * x[1]
        g = t2.gradient(y, x)
    assert t.jacobian(g, x).numpy().tolist() == [[6.0, 1.0], [1.0, 12.0]]


def test_a_jacobian_in_an_outer_block_is_recorded():
    x = constant([1.0, 2.0])
    with GradientTape() as o:
        o.watch(x)
        with GradientTape() as t:
            t.watch(x)
            y = x * x * x
        j = t.jacobian(y, x)
        s = np.sum(j * j)
    assert j.numpy().tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert o.gradient(s, x).numpy().tolist() == [36.0, 288.0]


def test_batch_jacobian():
    w = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    t, (x,), y = taped(lambda x: (x * x) @ w, [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]])
    found = t.batch_jacobian(y, x).numpy()
    expected = 2 * x.numpy()[:, None, :] * w.T[None]
    np.testing.assert_allclose(found, expected)


def test_batch_jacobian_of_other_ranks():
    t, (x,), y = taped(lambda x: np.sum(x * x, axis=(1, 2)), np.arange(12.0).reshape(2, 3, 2))
    np.testing.assert_allclose(t.batch_jacobian(y, x).numpy(), 2 * x.numpy())
    t, (x,), y = taped(lambda x: x[:, :, None] * x[:, None, :], np.arange(6.0).reshape(2, 3))
    found = t.batch_jacobian(y, x)
    assert found.shape == (2, 3, 3, 3)
    eye, a = np.eye(3), x.numpy()
    expected = np.einsum("bj,ik->bijk", a, eye) + np.einsum("bi,jk->bijk", a, eye)
    np.testing.assert_allclose(found.numpy(), expected)


def test_batch_jacobian_needs_one_batch_size():
    t, (x,), y = taped(lambda x: np.sum(x, axis=0), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"\(3,\).*\(2, 3\).*jacobian"):
        t.batch_jacobian(y, x)
    assert t.gradient(y, x).numpy().tolist() == np.ones((2, 3)).tolist()


def test_batch_jacobian_of_what_is_not_connected():
    t, (x, w), y = taped(lambda x, w: x * x, np.ones((2, 3)), np.ones((2, 4)), persistent=True)
    with pytest.warns(UnconnectedGradientWarning):
        assert t.batch_jacobian(y, w) is None
    assert t.batch_jacobian(y, w, unconnected_gradients="zero").shape == (2, 3, 4)


# The life of a tape -------------------------------------------------------------------------------


def test_a_failed_gradient_uses_nothing_up():
    t, (x,), y = taped(lambda x: np.sum(np.unwrap(x)), [1.0, 2.0])
    with pytest.raises(NotImplementedError):
        t.gradient(y, x)
    with pytest.raises(NotImplementedError):
        t.gradient(y, x)


def test_misuse():
    t = GradientTape()
    with pytest.raises(RuntimeError, match="recorded nothing"):
        t.gradient(constant(1.0), constant(1.0))
    with pytest.raises(RuntimeError, match="not recording"), t.stop_recording():
        pass
    with pytest.raises(ValueError, match="not recording"):
        t.reset()
    with t:
        with pytest.raises(ValueError, match="still recording"), t:
            pass
    assert issubclass(TapeError, RuntimeError)


def test_a_tape_whose_gradient_was_taken_can_be_entered_again():
    t, (x,), y = taped(lambda x: x * x, 3.0)
    t.gradient(y, x)
    with t:
        t.watch(x)
        y = x * x * x
    assert t.gradient(y, x).numpy() == 27.0


def test_a_plain_tape_stops_at_its_gradient():
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = x * x
        d = t.gradient(y, x)
        z = x * x
    assert d.numpy() == 6.0
    with pytest.raises(RuntimeError, match="persistent=True"):
        t.gradient(z, x)
    assert srcgrad.capture.recorder.live.recorders == ()


def test_an_error_in_the_block_ends_the_recording():
    with pytest.raises(ZeroDivisionError), GradientTape():
        1 / 0
    assert srcgrad.capture.recorder.live.recorders == ()


def test_stop_recording_ends_with_an_error_too():
    x = constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(ZeroDivisionError), t.stop_recording():
            1 / 0
        y = x * x
    assert t.gradient(y, x).numpy() == 6.0


def test_threads_have_tapes_of_their_own():
    x = constant(3.0)
    results = {}

    def work(name, n):
        with GradientTape() as t:
            t.watch(x)
            y = x
            for _ in range(n):
                y = y * x
                barrier.wait()
        results[name] = t.gradient(y, x).numpy()

    barrier = threading.Barrier(2)
    with GradientTape(persistent=True) as outer:
        threads = [threading.Thread(target=work, args=(k, 3)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {0: 108.0, 1: 108.0}
    assert outer.recorder.node.depth == 0  # nothing of the other threads


class Freed:
    """Tells whether the array of a traced value is still alive."""

    def __init__(self):
        self.refs = []

    def see(self, traced):
        self.refs.append(weakref.ref(traced.value))
        return traced

    def alive(self):
        gc.collect()
        return sum(r() is not None for r in self.refs)


def test_memory_goes_with_a_persistent_tape():
    freed = Freed()
    x = constant(np.ones(100_000))
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = x
        for _ in range(5):
            y = freed.see(np.sin(y))
        y = np.sum(y)
    t.gradient(y, x)
    assert freed.alive() >= 4
    del t
    assert freed.alive() == 0


def test_memory_goes_with_the_gradient_of_a_plain_tape():
    freed = Freed()
    x = constant(np.ones(100_000))
    with GradientTape() as t:
        t.watch(x)
        y = x
        for _ in range(5):
            y = freed.see(np.sin(y))
        y = np.sum(y)
    assert freed.alive() >= 4
    t.gradient(y, x)
    assert freed.alive() == 0
    assert t is not None


def test_memory_goes_without_the_help_of_the_collector():
    x = constant(np.ones(1000))
    gc.collect()
    gc.disable()
    try:
        with GradientTape() as t:
            t.watch(x)
            y = np.sin(x)
            ref = weakref.ref(y.value)
            y = np.sum(y * y)
        t.gradient(y, x)
        del y
        assert ref() is None
    finally:
        gc.enable()


def test_what_does_not_depend_on_a_watched_value_is_not_kept():
    freed = Freed()
    x, w = constant(np.ones(1000)), constant(np.ones(1000))
    with GradientTape(persistent=True) as t:
        t.watch(x)
        for _ in range(5):
            freed.see(np.sin(w))
        y = np.sum(x)
    assert freed.alive() == 0
    assert t.gradient(y, x).shape == (1000,)


# Source -------------------------------------------------------------------------------------------


def test_the_source_is_numpy_text():
    w, x = Variable([1.0, 2.0], name="w"), constant([3.0, 4.0])
    with GradientTape(persistent=True) as t:
        y = np.sum(np.sin(w) * x)
    text = t.source(y, w)
    assert "np.cos(w)" in text and "def " in text and "srcgrad" in text.splitlines()[0]
    compile(text, "<tape>", "exec")
    t.gradient(y, w)
    assert t.source(y, [w]) and t.source([y], {"w": w})


def test_the_source_of_what_is_not_connected_says_why():
    t, (x, w), y = taped(lambda x, w: x * x, 2.0, 3.0)
    assert t.source(y, w).startswith("# no gradient")


def test_the_source_does_not_use_a_tape_up():
    t, (x,), y = taped(lambda x: x * x, 2.0)
    t.source(y, x)
    assert t.explain(y, x)
    assert t.gradient(y, x).numpy() == 4.0
    with pytest.raises(RuntimeError, match="before the gradient"):
        t.source(y, x)


# Ours, over NumPy ---------------------------------------------------------------------------------


def converts(y, how):
    if how == "float":
        return float(y)
    return "%f" % y


@pytest.mark.parametrize("how", ["float", "percent"])
def test_a_conversion_works_and_warns_once_per_line(how):
    x = constant(2.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        with GradientTape() as t:
            t.watch(x)
            y = x * x
            for _ in range(3):
                made = float(y) if how == "float" else "%f" % y
    assert made == (4.0 if how == "float" else "4.000000")
    assert [w.category for w in caught] == [ConversionWarning]
    assert caught[0].filename == __file__
    assert t.gradient(y, x).numpy() == 4.0


def test_a_conversion_of_what_no_tape_records_is_silent():
    x, w = constant(2.0), constant(3.0)
    with GradientTape() as t:
        t.watch(x)
        y = x * float(w)
        assert np.asarray(w) == 3.0
    assert float(y) == 6.0
    assert t.gradient(y, x).numpy() == 3.0


@pytest.mark.parametrize("make", [np.asarray, np.array, np.asanyarray])
def test_an_array_of_a_recorded_value(make):
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        y = x * x
        with pytest.raises(ConversionError, match=r"test_tape\.py:\d+"):
            make(y)
        with t.stop_recording():
            assert make(y).tolist() == [1.0, 4.0]
    assert make(y).tolist() == [1.0, 4.0]


def test_np_array_of_recorded_values_says_np_stack():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(TypeError, match=r"np\.stack"):
            np.array([x, x * x])
        y = np.sum(np.stack([x, x * x]))
    assert t.gradient(y, x).numpy() == 5.0


def test_a_recorded_value_stored_into_a_plain_array():
    x, out = constant(2.0), np.zeros(3)
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(ValueError) as info:  # NumPy's own, for which ours is the cause
            out[0] = x * x
        assert "np.stack" in str(info.value.__cause__)
        with pytest.raises(TypeError, match=r"test_tape\.py:\d+"):
            out[:] = np.stack([x, x, x])
    assert out.tolist() == [0.0, 0.0, 0.0]
    out[0] = x  # outside of the block it acts as its value
    assert out[0] == 2.0


@pytest.mark.parametrize(
    "write",
    [
        lambda a, x: np.multiply(a, x, out=a),
        lambda a, x: np.add.at(a, [0], x[0]),
        lambda a, x: np.copyto(a, x),
        lambda a, x: a.__iadd__(x),
        lambda a, x: np.cumsum(x, out=a),
        lambda a, x: np.dot(x, np.eye(2), out=a),
        lambda a, x: np.einsum("i->i", x, out=a),
        lambda a, x: np.put(a, [0], x[0]),
        lambda a, x: np.fill_diagonal(x * np.eye(2), 1.0),
        lambda a, x: x.__setitem__(0, 1.0),
        lambda a, x: x.__iadd__(1.0),
        lambda a, x: x.sort(),
    ],
)
def test_writing_is_refused(write):
    x, a = constant([1.0, 2.0]), np.array([5.0, 6.0])
    with GradientTape() as t:
        t.watch(x)
        with pytest.raises(TypeError, match=r"test_tape\.py:\d+"):
            write(a, x)
    assert a.tolist() == [5.0, 6.0] and x.numpy().tolist() == [1.0, 2.0]


def test_a_plain_operand_is_copied():
    buffer = np.empty(2)
    x = constant([1.0, 2.0])
    with GradientTape() as t:
        t.watch(x)
        y = 0.0
        for k in range(3):
            buffer[:] = k
            y = y + np.sum(x * buffer)
        buffer[:] = 1e9
    assert t.gradient(y, x).numpy().tolist() == [3.0, 3.0]


def test_a_mask_and_an_index_are_copied():
    mask, index = np.array([True, False, True]), np.array([0, 0])
    x = constant([1.0, 2.0, 3.0])
    with GradientTape() as t:
        t.watch(x)
        y = np.sum(x[mask]) + np.sum(x[index]) + np.sum(np.where(mask, x, 0.0))
        mask[:] = False
        index[:] = 2
    assert t.gradient(y, x).numpy().tolist() == [4.0, 0.0, 2.0]


# Mixtures -----------------------------------------------------------------------------------------


def cube(x):
    return x * x * x


def test_grad_in_a_tape():
    x = constant(2.0)
    with GradientTape(persistent=True) as t:
        t.watch(x)
        y = srcgrad.grad(cube)(x)
        z = srcgrad.grad(srcgrad.grad(cube))(x)
    assert y.numpy() == 12.0 and z.numpy() == 12.0
    assert t.gradient(y, x).numpy() == 12.0
    assert t.gradient(z, x).numpy() == 6.0


def test_grad_of_a_variable():
    v = Variable([1.0, 2.0])
    g = srcgrad.grad(lambda v: np.sum(v**3))
    found = g(v)
    assert np.asarray(found).tolist() == [3.0, 12.0]
    with GradientTape() as t:
        y = np.sum(g(v))
    assert t.gradient(y, v).numpy().tolist() == [6.0, 12.0]


def test_a_variable_read_by_a_differentiated_function():
    v = Variable(3.0)

    def f(x):
        return x * x * v

    assert srcgrad.grad(f)(2.0) == 12.0
    v.assign(5.0)
    assert srcgrad.grad(f)(2.0) == 20.0
    with GradientTape() as t:
        y = srcgrad.grad(f)(2.0)
    assert t.gradient(y, v).numpy() == 4.0


def second(x):
    with GradientTape() as t:
        x = t.watch(x)
        y = np.sum(x * x * x)
    return np.sum(t.gradient(y, x))


def test_a_tape_in_grad():
    assert srcgrad.grad(second)(np.array([1.0, 2.0])).tolist() == [6.0, 12.0]
    assert srcgrad.grad(srcgrad.grad(lambda x: second(x)))(2.0) == 6.0


def test_a_tape_in_a_function_on_a_tape():
    x = constant(2.0)
    with GradientTape() as t:
        t.watch(x)
        y = srcgrad.grad(second)(x)
    assert t.gradient(y, x).numpy() == 6.0


def inner_tape_on_the_inside_only(x):
    with GradientTape() as t:
        w = t.watch(constant(3.0))
        y = w * w * x
    return t.gradient(y, w) * x


def test_a_tape_on_an_inner_value_in_grad():
    """6 * x * x: the inner gradient depends on the outer argument."""
    assert srcgrad.grad(inner_tape_on_the_inside_only)(2.0) == 24.0


def test_perturbations_are_not_confused():
    x = constant(1.0)
    with GradientTape() as outer:
        outer.watch(x)
        w = constant(1.0)
        with GradientTape() as inner:
            inner.watch(w)
            y = x + w
        d = inner.gradient(y, w)
        z = x * d
    assert outer.gradient(z, x).numpy() == 1.0


def test_vjp_and_custom_vjp_on_a_tape():
    @srcgrad.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (7.0 * x * g,))
    t, (x,), y = taped(lambda x: f(x) + srcgrad.vjp(cube, x)[1](1.0)[0], 2.0)
    assert t.gradient(y, x).numpy() == 14.0 + 12.0


def test_a_primitive_and_a_hook_on_a_tape():
    @srcgrad.primitive
    def twice(x):
        return x * 2.0

    srcgrad.defvjp(twice)(lambda g, out, x: g * 2.0)
    seen = []
    t, (x,), y = taped(
        lambda x: twice(srcgrad.grad_hook(x, lambda g: seen.append(g) or g * 10.0)), 2.0
    )
    assert t.gradient(y, x).numpy() == 20.0
    assert len(seen) == 1


def test_a_batch_of_training_steps_generates_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    w, b = Variable(np.zeros(3)), Variable(0.0)
    srcgrad.clear_cache()
    for step in range(5):
        with GradientTape() as t:
            loss = np.mean((X @ w + b - y) ** 2)
        dw, db = t.gradient(loss, [w, b])
        w.assign_sub(dw * (0.1 / (step + 1)))
        b.assign_sub(db * 0.1)
    assert srcgrad.cache_info().programs == 1
    assert srcgrad.cache_info().hits == 4
