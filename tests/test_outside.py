"""What a run reads from outside: written to while it runs, or another one at the next call."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import srcgrad

W = np.array([1.0, 2.0, 3.0])
fill = W.fill
namespace: dict = {"buffer": np.array([1.0, 2.0, 3.0])}
exec("def hidden():\n    buffer[:] = 7.0\n", namespace)
hidden = namespace["hidden"]


def by_a_bound_method(x):
    before = np.sum(x * W)
    fill(7.0)
    return before + np.sum(x * W)


def by_a_hidden_function(x):
    before = np.sum(x * namespace["buffer"])
    hidden()
    return before + np.sum(x * namespace["buffer"])


generator = np.random.default_rng(0)
drawn = np.zeros(3)
draw = functools.partial(generator.standard_normal, out=drawn)


def by_a_generator(x):
    total = 0.0
    for _ in range(2):
        draw()
        total = total + np.sum(x * drawn)
    return total


def by_numpy(x):
    before = np.sum(x * W)
    np.copyto(*[a for a in (W, np.zeros(3))])
    return before + np.sum(x * W)


@pytest.mark.parametrize("f", [by_a_bound_method, by_a_hidden_function, by_a_generator, by_numpy])
def test_a_write_that_nothing_shows_is_refused(f):
    before = W.copy(), namespace["buffer"].copy()
    with pytest.raises(srcgrad.InPlaceError, match=r"in by_.*test_outside\.py:\d+"):
        srcgrad.grad(f)(np.ones(3))
    np.testing.assert_array_equal(W, before[0])
    np.testing.assert_array_equal(namespace["buffer"], before[1])


def test_a_write_into_an_argument_is_refused():
    x = np.ones(3)
    write = x.fill

    def f(y):
        before = np.sum(y * y)
        write(5.0)
        return before + np.sum(y)

    with pytest.raises(srcgrad.InPlaceError, match="fill"):
        srcgrad.grad(f)(x)
    np.testing.assert_array_equal(x, np.ones(3))


# Rules of users -----------------------------------------------------------------------------------

SCALE = 2
MODE = "a"
PAIR = (2.0, 5.0)


class Settings:
    n = 2


@srcgrad.primitive
def scaled(x, settings=None):
    return x * 1.0


RULES = {
    "int": (lambda g, out, x: g * SCALE, {"SCALE": 2}, {"SCALE": 3}, 2, 3),
    "branch": (
        lambda g, out, x: g * 2 if MODE == "a" else g * 5,
        {"MODE": "a"},
        {"MODE": "b"},
        2,
        5,
    ),
    "unpacked": (lambda g, out, x: g * max(PAIR), {"PAIR": (2.0, 1.0)}, {"PAIR": (3.0, 1.0)}, 2, 3),
    "pi": (lambda g, out, x: g * SCALE, {"SCALE": np.pi}, {"SCALE": 2.0}, np.pi, 2),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_reads_the_world_as_it_is(name, monkeypatch):
    rule, first, second, before, after = RULES[name]
    srcgrad.defvjp(scaled)(rule)
    g = srcgrad.grad(lambda x: scaled(x) * 1.0)
    for world, expected in ((first, before), (second, after), (first, before)):
        for key, value in world.items():
            monkeypatch.setitem(globals(), key, value)
        assert g(1.0) == expected
        assert srcgrad.grad(lambda x: g(x) * x)(1.0) == expected


def test_a_rule_reads_an_object_as_it_is():
    settings = Settings()
    srcgrad.defvjp(scaled)(lambda g, out, x, settings: g * settings.n)
    g = srcgrad.grad(lambda x: scaled(x, settings) * 1.0)
    for n in (2, 3):
        settings.n = n
        assert g(1.0) == n


def test_a_rule_that_is_stated_anew_counts_from_then_on():
    g = srcgrad.grad(lambda x: scaled(x) * 1.0)
    for factor in (2.0, 3.0):
        srcgrad.defvjp(scaled)(eval(f"lambda g, out, x: g * {factor}"))
        assert g(1.0) == factor


def closed_rule(g, out, x):
    return g * np.cos(x) * np.sqrt(np.pi)


def test_a_rule_that_reads_modules_alone_is_kept():
    srcgrad.defvjp(scaled)(closed_rule)
    srcgrad.clear_cache()
    for x in (1.0, 2.0, 3.0):
        found = srcgrad.grad(lambda x: scaled(x) * 1.0)(x)
        np.testing.assert_allclose(found, np.cos(x) * np.sqrt(np.pi))
    assert srcgrad.cache_info().programs == 1


# Text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("z", [3 + 4j, np.array([1 + 1j, 2 - 1j])])
def test_the_joint_text_of_a_complex_argument_is_conjugated_too(z):
    g = srcgrad.grad(lambda z: np.sum(np.abs(z) ** 2))
    np.testing.assert_allclose(g(z), 2 * z)
    np.testing.assert_allclose(g.specializations[-1].function(z), 2 * z)


def test_a_nan_in_the_text_is_the_same_nan():
    srcgrad.clear_cache()
    for _ in range(4):
        srcgrad.grad(lambda x: np.sum(np.where(x > 0, x * 2, float("nan"))))(np.ones(3))
    assert srcgrad.cache_info().programs == 1
