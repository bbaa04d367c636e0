"""Rules of functions that join arrays and split them."""

from __future__ import annotations

import numpy as np

from ..cases import check, complex_normal, normal, row, table

X, Y = normal(2, 3), normal(2, 3, seed=1)
WIDE = normal(2, 1, seed=2)
V, W = normal(3), normal(3, seed=1)
X3 = normal(2, 3, 2)
Z = complex_normal(2, 3)
F32 = normal(2, 3).astype(np.float32)
SCALAR = np.float64(0.7)

JOIN_ROWS = [
    row(np.concatenate, lambda x, y: np.concatenate([x, y]), X, Y),
    row(np.concatenate, lambda x, y: np.concatenate((x, y, x * x), axis=-1), X, WIDE),
    row(np.concatenate, lambda x, v: np.concatenate([x, v], axis=None) ** 2, X, V),
    row(np.concatenate, lambda x, z: np.concatenate([x, z], axis=1), X, Z),
    row(np.concatenate, lambda v: np.concatenate([[0.0, 1.0], v, [v[0]]]) ** 2, V),
    row(np.concatenate, lambda x: np.concatenate(x, axis=1), X3),
    row(np.concatenate, lambda x, y: np.concatenate([x, y]), F32, F32),
    row(np.concat, lambda x, y: np.concat([x, y, y], axis=1), X, Y),
    row(np.concat, lambda x: np.concat([x]), X),
    row(np.append, lambda x, v: np.append(x, v), X, V),
    row(np.append, lambda x, w: np.append(x, w, axis=-1) ** 2, X, WIDE),
    row(np.append, lambda v, s: np.append(v, s), V, SCALAR),
    row(np.insert, lambda v, s: np.insert(v, 1, s) ** 2, V, SCALAR),
    row(np.insert, lambda v, w: np.insert(v, 2, w) ** 2, V, W),
    row(np.insert, lambda v, w: np.insert(v, [2, 0, 2], w) ** 2, V, W),
    row(np.insert, lambda x, v: np.insert(x, 1, v, axis=0) ** 2, X, V),
    row(np.insert, lambda x, w: np.insert(x, 1, w, axis=1) ** 2, X, normal(2)),
    row(np.insert, lambda x, w: np.insert(x, 1, w, axis=-1) ** 2, X, normal(5, 2)),
    row(np.insert, lambda x, w: np.insert(x, [1, 2], w, axis=1) ** 2, X, normal(2, 1)),
    row(np.insert, lambda x, w: np.insert(x, slice(0, 2), w, axis=1) ** 2, X, normal(2, 2)),
    row(np.stack, lambda x, y: np.stack([x, y]), X, Y),
    row(np.stack, lambda x, y: np.stack((x, y, x), axis=-1) ** 2, X, Z),
    row(np.stack, lambda x: np.stack([x[0, 0], x[1, 2] ** 2]), X),
    row(np.stack, lambda x: np.stack(x, axis=1), X),
    row(np.vstack, lambda x, v: np.vstack([x, v]), X, V),
    row(np.vstack, lambda v, w: np.vstack((v, w)) ** 2, V, W),
    row(np.vstack, lambda x: np.vstack(x), X3),
    row(np.hstack, lambda v, w: np.hstack([v, w, v * w]), V, W),
    row(np.hstack, lambda x, w: np.hstack([x, w]), X, WIDE),
    row(np.hstack, lambda v, s: np.hstack([v, s, 1.0]) ** 2, V, SCALAR),
    row(np.dstack, lambda x, y: np.dstack([x, y]), X, Y),
    row(np.dstack, lambda v, w: np.dstack([v, w]) ** 2, V, W),
    row(np.dstack, lambda x: np.dstack([x, x[..., :1]]), X3),
    row(np.column_stack, lambda v, w: np.column_stack([v, w]), V, W),
    row(np.column_stack, lambda v, x: np.column_stack([v, x.T]) ** 2, V, X),
    row(np.block, lambda x, y: np.block([[x, y], [y, x * x]]), X, Y),
    row(np.block, lambda x, v, s: np.block([[x, np.ones((2, 1))], [v, s]]) ** 2, X, V, SCALAR),
    row(np.block, lambda v, w: np.block([v, w]), V, W),
]

NEST_ROWS = [
    row(np.array, lambda x: np.array([x[0, 0], x[1, 1] * 2, 3.0]), X),
    row(np.array, lambda v, w: np.array([v, [w[0], 1.0, v[2]]]) ** 2, V, W),
    row(np.array, lambda v, w: np.array((v, w)), V, W),
    row(np.array, lambda s: np.array([[np.cos(s), -np.sin(s)], [np.sin(s), np.cos(s)]]), SCALAR),
    row(np.array, lambda s: np.array([s, s * s], ndmin=2), SCALAR),
    row(np.asarray, lambda s: np.asarray([s, s**2]), SCALAR),
    row(np.asarray, lambda x: np.asarray(x) ** 2, X),
    row(np.asanyarray, lambda x: np.asanyarray([x, x]), X),
    row(np.asanyarray, lambda x: np.asanyarray(x), Z),
]

SPLIT_ROWS = [
    row(np.split, lambda x: np.split(x, 3, axis=1), X),
    row(np.split, lambda x: np.split(x, [1], axis=-1)[1] ** 2, X),
    row(np.split, lambda x: [p * p for p in np.split(x, [1, 2], axis=1)], Z),
    row(np.split, lambda v: np.split(v, [-1]), V),
    row(np.array_split, lambda v: np.array_split(v, 2), V),
    row(np.array_split, lambda x: np.array_split(x, 2, axis=1)[0] ** 2, X),
    row(np.hsplit, lambda x: np.hsplit(x, 3), X),
    row(np.hsplit, lambda v: np.hsplit(v, [1])[1], V),
    row(np.vsplit, lambda x: np.vsplit(x, 2), X),
    row(np.vsplit, lambda x: np.vsplit(x, 2)[1] ** 2, X3),
    row(np.dsplit, lambda x: np.dsplit(x, 2), X3),
    row(np.dsplit, lambda x: np.dsplit(x, [1])[0] ** 2, X3),
]

ROWS = [*JOIN_ROWS, *NEST_ROWS, *SPLIT_ROWS]

if hasattr(np, "unstack"):
    ROWS += [
        row(np.unstack, lambda x: np.unstack(x), X),
        row(np.unstack, lambda x: np.unstack(x, axis=-1)[1] ** 2, X3),
    ]


@table(ROWS)
def test_joining(row):
    check(row)


def test_empty_parts():
    check(row(np.concatenate, lambda v: np.concatenate([v, v[:0], v]) ** 2, V))
    check(row(np.split, lambda v: np.split(v, [0, 3]), V))
