"""Rules of eigenvalues and singular values."""

from __future__ import annotations

import numpy as np

from ..cases import check, complex_normal, normal, row, table

A = normal(3, 3)
Z = complex_normal(3, 3)
SYMMETRIC, HERMITIAN = A + A.T, Z + Z.conj().T
BATCH = normal(2, 3, 3)
TALL, WIDE = normal(4, 3), normal(3, 4)
ZTALL = complex_normal(4, 3)


def rebuilt(u, s, vh):
    """Return what does not depend on the phases of singular vectors."""
    return (u * (s**2 + s)) @ vh


def projected(v, w):
    """Return what does not depend on the phases of eigenvectors."""
    return (v * np.sin(w)) @ np.conj(v.T)


ROWS = [
    row(np.linalg.eigh, lambda a: np.linalg.eigh(a)[0], SYMMETRIC),
    row(np.linalg.eigh, lambda a: np.linalg.eigh(a), SYMMETRIC),
    row(np.linalg.eigh, lambda a: np.linalg.eigh(a, "U")[1], SYMMETRIC),
    row(np.linalg.eigh, lambda a: np.linalg.eigh(a).eigenvectors, BATCH),
    row(np.linalg.eigh, lambda a: projected(np.linalg.eigh(a)[1], np.linalg.eigh(a)[0]), HERMITIAN),
    row(np.linalg.eigvalsh, lambda a: np.linalg.eigvalsh(a), SYMMETRIC),
    row(np.linalg.eigvalsh, lambda a: np.linalg.eigvalsh(a, "U") ** 2, HERMITIAN),
    row(np.linalg.eigvalsh, lambda a: np.linalg.eigvalsh(a), BATCH),
    row(np.linalg.eig, lambda a: np.linalg.eig(a)[0], SYMMETRIC),
    row(np.linalg.eig, lambda a: np.linalg.eig(a)[0] ** 2, Z),
    row(np.linalg.eig, lambda a: np.abs(np.linalg.eig(a)[1]) ** 2, Z, order=1),
    row(np.linalg.eig, lambda a: np.linalg.eig(a)[1], np.diag([1.0, 2.0, 4.0]) + A / 8),
    row(np.linalg.eigvals, lambda a: np.linalg.eigvals(a), Z),
    row(np.linalg.eigvals, lambda a: np.linalg.eigvals(a), np.array([[1.0, 2.0], [-2.0, 1.5]])),
    row(np.linalg.svd, lambda a: np.linalg.svd(a, full_matrices=False), TALL),
    row(np.linalg.svd, lambda a: np.linalg.svd(a, full_matrices=False), WIDE),
    row(np.linalg.svd, lambda a: np.linalg.svd(a), A),
    row(np.linalg.svd, lambda a: np.linalg.svd(a)[1:], TALL),
    row(np.linalg.svd, lambda a: np.linalg.svd(a)[0], WIDE),
    row(np.linalg.svd, lambda a: np.linalg.svd(a, compute_uv=False), WIDE),
    row(np.linalg.svd, lambda a: np.linalg.svd(a, full_matrices=False)[2], normal(2, 3, 2)),
    row(np.linalg.svd, lambda a: rebuilt(*np.linalg.svd(a, full_matrices=False)), ZTALL),
    row(np.linalg.svdvals, lambda a: np.linalg.svdvals(a), TALL),
    row(np.linalg.svdvals, lambda a: np.linalg.svdvals(a) ** 2, ZTALL),
    row(np.linalg.svdvals, lambda a: np.linalg.svdvals(a), BATCH),
]


@table(ROWS)
def test_spectral(row):
    check(row)


def test_equal_values():
    import srcgrad

    x = 2.0 * np.eye(3)
    power = srcgrad.grad(lambda a: np.sum(np.linalg.eigvalsh(a) ** 3))(x)
    np.testing.assert_allclose(power, 12.0 * np.eye(3))
    vectors = srcgrad.grad(lambda a: np.sum(np.linalg.eigh(a)[1] ** 2))(x)
    assert not np.any(vectors)
    squares = srcgrad.grad(lambda a: np.sum(np.linalg.svd(a)[1] ** 2))(x)
    np.testing.assert_allclose(squares, 4.0 * np.eye(3))
