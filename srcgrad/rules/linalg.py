"""Rules of np.linalg: systems of equations, inverses, determinants, factors.

Sources: M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008); I. Murray, "Differentiation of the Cholesky decomposition"
(2016); G. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate" (1973). Norms stand in norms.py, eigenvalues and singular values
in spectral.py.

np.linalg.cholesky reads one triangle of its argument; the cotangent lies in that triangle.
"""

from __future__ import annotations

import math

import numpy as np

from ..runtime import arange, zeros
from .products import conj
from .shapes import mT, unsupported
from .table import defvjp


def adjoint(a):
    """Return the conjugate transpose."""
    return conj(mT(a))


# Equations and inverses ---------------------------------------------------------------------------


@defvjp(np.linalg.solve)
def solve_vjp(g, out, a, b):
    if b.ndim > 1:  # NumPy 2: only a 1-d right-hand side is a vector
        b_bar = np.linalg.solve(mT(a), g)
        return -b_bar @ mT(out), b_bar
    if a.ndim == 2:
        b_bar = np.linalg.solve(a.T, g)
        return -np.outer(b_bar, out), b_bar
    b_bar = np.linalg.solve(mT(a), g[..., None])
    return -b_bar * out[..., None, :], b_bar[..., 0]


@defvjp(np.linalg.inv)
def inv_vjp(g, out, a):
    turned = mT(out)
    return -turned @ g @ turned


@defvjp(np.linalg.pinv)
def pinv_vjp(g, out, a, rcond=None, *, rtol=None):
    """Golub and Pereyra (1973), eq. 4.12, transposed; for a matrix of locally constant rank."""
    g = conj(g)
    p, ph, gh = out, adjoint(out), adjoint(g)
    outside_range = gh - a @ (p @ gh)  # the part of g that the range of a does not see
    outside_kernel = gh - (gh @ p) @ a
    return conj(outside_range @ p @ ph + ph @ p @ outside_kernel - ph @ g @ ph)


@defvjp(np.linalg.lstsq)
def lstsq_vjp(g, out, a, b, rcond=None):
    """With x = pinv(a) b the residual is stationary in x, so only its explicit part counts."""
    x_g, residual_g, _, s_g = g
    x = out[0]
    a_bar, b_bar = zeros(a.shape, a.dtype), zeros(b.shape, b.dtype)
    if x_g is not None:
        p = np.linalg.pinv(a)
        b_bar = p.T @ x_g
        p_bar = np.outer(x_g, b) if b.ndim == 1 else x_g @ b.T
        a_bar = pinv_vjp(p_bar, p, a)
    if residual_g is not None and out[1].size > 0:
        r = 2 * residual_g * conj(b - a @ x)
        b_bar = b_bar + r
        a_bar = a_bar - (np.outer(r, x) if b.ndim == 1 else r @ x.T)
    if s_g is not None:
        u, _, vh = np.linalg.svd(a, full_matrices=False)
        a_bar = a_bar + conj(u * s_g @ vh)
    return a_bar, b_bar


@defvjp(np.linalg.matrix_power)
def matrix_power_vjp(g, out, a, n):
    if n == 0:
        return np.zeros_like(a)
    if n < 0:
        inverse = np.linalg.inv(a)
        return inv_vjp(matrix_power_vjp(g, out, inverse, -n), inverse, a)
    turned, total = mT(a), g
    left = g
    for _ in range(n - 1):  # g a' ... + a' g a' ... + ..., by Horner's scheme
        left = turned @ left
        total = total @ turned + left
    return total


@defvjp(np.linalg.tensorinv)
def tensorinv_vjp(g, out, a, ind=2):
    n = math.prod(a.shape[ind:])
    return np.reshape(inv_vjp(np.reshape(g, (n, n)), np.reshape(out, (n, n)), a), a.shape)


@defvjp(np.linalg.tensorsolve)
def tensorsolve_vjp(g, out, a, b, axes=None):
    order = list(range(a.ndim))
    for axis in axes or ():
        order.remove(axis % a.ndim)
        order.append(axis % a.ndim)
    turned, n = np.transpose(a, tuple(order)), out.size
    a_bar, b_bar = solve_vjp(np.ravel(g), np.ravel(out), np.reshape(turned, (n, n)), np.ravel(b))
    a_bar = np.reshape(a_bar, turned.shape)
    return np.transpose(a_bar, tuple(map(order.index, range(a.ndim)))), np.reshape(b_bar, b.shape)


# Determinants -------------------------------------------------------------------------------------


@defvjp(np.linalg.det)
def det_vjp(g, out, a):
    """The derivative of a determinant is the matrix of cofactors, also of a singular matrix."""
    if a.ndim > 2:
        g, out = g[..., None, None], out[..., None, None]
    n = a.shape[-1]
    if n > LARGEST_BY_MINORS:
        return g * out * mT(np.linalg.inv(a))
    return g * cofactors(a)


LARGEST_BY_MINORS = 8  # n * n determinants of size n - 1; beyond that by the inverse


def cofactors(a):
    """Return the matrix of cofactors in a form that is a polynomial in the elements of `a`."""
    n = a.shape[-1]
    if n < 2:
        return np.ones_like(a)
    i = arange(n)
    if n == 3:
        return np.cross(np.roll(a, -1, axis=-2), np.roll(a, -2, axis=-2))
    signs = 1 - 2 * ((i[:, None] + i) % 2)
    if n == 2:
        return signs * np.flip(a, (-2, -1))
    k = arange(n - 1)
    others = k + (k >= i[:, None])  # row i: all numbers but i
    return signs * np.linalg.det(a[..., others[:, None, :, None], others[:, None, :]])


@defvjp(np.linalg.slogdet)
def slogdet_vjp(g, out, a):
    sign_g, log_g = g
    sign = out[0]
    factor = log_g
    if a.dtype.kind == "c" and sign_g is not None:
        turn = 1j * np.imag(sign_g * sign)
        factor = turn if log_g is None else log_g + turn
    if factor is None:
        return np.zeros_like(a)
    inverse = mT(np.linalg.inv(a))
    return (factor[..., None, None] if a.ndim > 2 else factor) * inverse


# Factors ------------------------------------------------------------------------------------------


def half_lower(x):
    """Return the lower triangle with half of the diagonal."""
    return (np.tril(x) + np.tril(x, -1)) / 2


@defvjp(np.linalg.cholesky)
def cholesky_vjp(g, out, a, *, upper=False):
    """Murray (2016), eq. 10, folded onto the triangle that NumPy reads."""
    factor, g = (mT(out), mT(g)) if upper else (out, g)
    turned = mT(factor)
    middle = half_lower(turned @ g)
    right = np.linalg.solve(conj(turned), mT(middle))
    s = np.linalg.solve(turned, mT(right))
    folded = half_lower(s + adjoint(s))
    return mT(folded) if upper else folded


@defvjp(np.linalg.qr)
def qr_vjp(g, out, a, mode="reduced"):
    """Roberts and Roberts, "QR and LQ decomposition matrix backpropagation algorithms" (2020)."""
    rows, columns = a.shape[-2:]
    if mode == "raw" or (mode == "complete" and rows > columns):
        raise unsupported(f"np.linalg.qr with mode={mode!r}", "Say mode='reduced'.")
    if mode == "r":
        q, r = np.linalg.qr(a)
        q_g, r_g = np.zeros_like(q), g
    else:
        (q, r), (q_g, r_g) = out, g
        q_g = np.zeros_like(q) if q_g is None else q_g
        r_g = np.zeros_like(r) if r_g is None else r_g
    q_g, r_g = conj(q_g), conj(r_g)
    if rows >= columns:
        return conj(_tall_qr(q_g, r_g, q, r))
    left = _tall_qr(
        q_g + a[..., rows:] @ adjoint(r_g[..., rows:]), r_g[..., :rows], q, r[..., :rows]
    )
    return conj(np.concatenate([left, q @ r_g[..., rows:]], axis=-1))


def _tall_qr(q_g, r_g, q, r):
    m = r @ adjoint(r_g) - adjoint(q_g) @ q
    symmetric = half_lower(m) + adjoint(half_lower(m))
    return adjoint(np.linalg.solve(r, adjoint(q_g + q @ symmetric)))
