"""A value that was not taken gives no nan, whatever lies between it and what did not take it.

Each row is a function, where it is differentiated, and the gradient. The values that are not taken
have an infinite or undefined derivative.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

nan = np.nan
X = [0.0, 2.0]


def used_twice(x):
    y = np.log(x)
    return np.sum(np.where(x > 0, y * y, 0))


def root_used_twice(x):
    y = np.sqrt(x)
    return np.sum(np.where(x > 0, y / (1 + y), 0))


def taken_by_two(x):
    y = np.log(x)
    return np.sum(np.where(x > 0, y, 0) + np.where(x > 0, 2 * y, 1))


def taken_by_both_arms(x):
    y = np.log(x)
    return np.sum(np.where(x > 1, y, y))


def normalized(x):
    length = np.sum(x * x)
    return np.sum(np.where(length > 0, x / np.sqrt(length), x))


ROWS = {
    "used twice": (used_twice, X, [0, np.log(2.0)]),
    "root used twice": (root_used_twice, X, [0, 0.5 / np.sqrt(2) / (1 + np.sqrt(2)) ** 2]),
    "taken by two": (taken_by_two, X, [0, 1.5]),
    "taken by both arms": (taken_by_both_arms, [0.5, 2.0], [2.0, 0.5]),
    "newaxis": (lambda x: np.sum(np.where((x > 0)[:, None], np.log(x)[:, None], 0)), X, [0, 0.5]),
    "transpose": (lambda x: np.sum(np.where(x > 0, np.log(x).T, 0)), X, [0, 0.5]),
    "flips": (lambda x: np.sum(np.where(x > 0, np.log(x)[::-1][::-1], 0)), X, [0, 0.5]),
    "stack": (lambda x: np.sum(np.where(x > 0, np.stack([np.log(x)])[0], 0)), X, [0, 0.5]),
    "astype": (lambda x: np.sum(np.where(x > 0, np.log(x).astype(np.float32), 0)), X, [0, 0.5]),
    "broadcast": (lambda x: np.sum(np.where(np.ones((2, 1)) * x > 0, np.log(x), 0)), X, [0, 1]),
    "scalar": (lambda x: np.sum(np.where(np.zeros(3, bool), np.log(x[0]), 0)), X, [0, 0]),
    "normalized": (normalized, [0.0, 0.0], [1, 1]),
    "sine": (lambda x: np.sum(np.where(np.isnan(x), 0, np.sin(x))), [nan, 0.0], [0, 1]),
    "tanh": (lambda x: np.sum(np.where(np.isnan(x), 0, np.tanh(x))), [nan, 0.0], [0, 1]),
    "abs": (lambda x: np.sum(np.where(np.isnan(x), 0, np.abs(x))), [nan, -2.0], [0, -1]),
    "relu": (lambda x: np.sum(np.where(np.isnan(x), 0, np.maximum(x, 0))), [nan, 1.0], [0, 1]),
    "softplus": (
        lambda x: np.sum(np.where(np.isnan(x), 0, np.logaddexp(0, x))),
        [nan, 0.0],
        [0, 0.5],
    ),
    "nansum": (lambda x: np.nansum(np.sin(x)), [nan, 0.0], [0, 1]),
    "sum where": (lambda x: np.sum(x**2, where=~np.isnan(x)), [1.0, nan, -2.0], [2, 0, -4]),
    "mean where": (lambda x: np.mean(np.log(x), where=x > 0), X, [0, 0.5]),
    "max where": (lambda x: np.max(np.log(x), where=x > 0, initial=-9.0), X, [0, 0.5]),
    "max": (lambda x: np.max(np.log(x)), X, [0, 0.5]),
    "mask": (lambda x: np.sum(np.log(x)[x > 0]), X, [0, 0.5]),
    "select": (lambda x: np.sum(np.select([x > 0], [np.log(x)], 0.0)), X, [0, 0.5]),
    "clip": (lambda x: np.sum(np.clip(np.log(x), -5, 5)), X, [0, 0.5]),
    "method clip": (lambda x: np.sum(np.log(x).clip(-5, 5)), X, [0, 0.5]),
    "maximum": (lambda x: np.sum(np.maximum(np.log(x), -5.0)), X, [0, 0.5]),
    "nan_to_num": (lambda x: np.sum(np.nan_to_num(np.log(x), neginf=0.0)), X, [0, 0.5]),
    "maximum in where": (
        lambda x: np.sum(np.where(x > 0, np.maximum(1 / x, -5.0), 0.0)),
        X,
        [0, -0.25],
    ),
    "int condition": (
        lambda x: np.sum(np.where(np.array([1, 1, 0]), 0.0, np.log(x))),
        [0.0, 2.0, 3.0],
        [0, 0, 1 / 3],
    ),
    "float condition": (
        lambda x: np.sum(np.where(np.array([0.0, 1.0, 1.0]), x * x, np.sin(x))),
        [0.0, 2.0, -1.0],
        [1, 4, -2],
    ),
    "argument as condition": (lambda x: np.sum(np.where(x, x * x, 3 * x)), X, [3, 4]),
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_was_not_taken(name):
    f, x, expected = ROWS[name]
    g = srcgrad.grad(f)
    for _ in range(2):
        np.testing.assert_allclose(g(np.array(x)), expected, rtol=1e-6)


SMOOTH = [
    used_twice,
    taken_by_two,
    taken_by_both_arms,
    normalized,
    lambda x: np.sum(np.where(x > 1, np.log(x) * np.exp(x), np.sin(x) / x) ** 2),
    lambda x: np.sum(np.where((x > 1)[:, None], np.outer(np.log(x), x), np.outer(x, x)) ** 2),
    lambda x: np.max(np.exp(x)) * np.min(np.sqrt(x)),
    lambda x: np.sum(np.log(x)[x > 1] ** 2) + np.sum(np.clip(np.tanh(x), 0.2, 0.9) ** 2),
    lambda x: np.sum(np.maximum(x * x, np.exp(x) - 1)) ** 2,
    lambda x: np.mean(np.sqrt(x) ** 3, where=x > 1) + np.nansum(np.where(x > 1, x**3, nan)),
]


@pytest.mark.parametrize("f", SMOOTH)
def test_second_order_through_what_was_taken(f):
    check_grads(f, (np.array([0.6, 1.7, 2.5]),), order=2)
