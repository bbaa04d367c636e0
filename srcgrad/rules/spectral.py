"""Rules of eigenvalues and singular values.

Sources: M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008); J. Townsend, "Differentiating the singular value decomposition"
(2016); Z.-Q. Wan and S.-X. Zhang, "Automatic differentiation for complex valued SVD" (2019);
C. Boeddeker et al., "On the computation of complex-valued gradients with application to
statistically optimum beamforming" (2017).

Where two values are equal their vectors are not determined. Their mutual turning is left out, which
is exact for what does not depend on the choice of the vectors. Eigenvectors and singular vectors of
complex matrices are determined up to a phase: only functions that do not see it have a derivative.

np.linalg.eigh and eigvalsh read one triangle of their argument; the cotangent lies in it.
"""

from __future__ import annotations

import numpy as np

from ..runtime import eye
from .linalg import adjoint, half_lower
from .norms import _or_inf
from .products import conj
from .shapes import mT
from .table import defvjp


def _gaps(w):
    """Return 1 / (w[j] - w[i]), 0 where these are equal."""
    return 1 / _or_inf(w[..., None, :] - w[..., :, None])


def _columns(x):
    return x[..., None, :]


# Symmetric and Hermitian --------------------------------------------------------------------------


@defvjp(np.linalg.eigh)
def eigh_vjp(g, out, a, UPLO="L"):
    (w, v), (w_g, v_g) = out, g
    middle = None
    if v_g is not None:
        middle = _gaps(w) * (adjoint(v) @ conj(v_g))
    return _eigh_back(w_g, middle, v, UPLO)


@defvjp(np.linalg.eigvalsh)
def eigvalsh_vjp(g, out, a, UPLO="L"):
    _, v = np.linalg.eigh(a, UPLO)
    return _eigh_back(g, None, v, UPLO)


def _eigh_back(w_g, middle, v, UPLO):
    """Return v (diag(w_g) + middle) v*, folded onto the triangle that NumPy reads."""
    parts = []
    if w_g is not None:
        parts.append((v * _columns(w_g)) @ adjoint(v))
    if middle is not None:
        parts.append(v @ middle @ adjoint(v))
    s = sum(parts[1:], parts[0])
    folded = conj(half_lower(s + adjoint(s)))
    return folded if UPLO in ("L", "l") else conj(mT(folded))


# General ------------------------------------------------------------------------------------------


@defvjp(np.linalg.eig)
def eig_vjp(g, out, a):
    (w, v), (w_g, v_g) = out, g
    if v_g is None:
        return _eig_back(w_g, None, v)
    inner = mT(v) @ v_g
    length = np.real(np.sum(v * v_g, axis=-2, keepdims=True))  # columns keep their length 1
    middle = _gaps(w) * (inner - mT(v) @ conj(v) * length)
    return _eig_back(w_g, middle, v)


@defvjp(np.linalg.eigvals)
def eigvals_vjp(g, out, a):
    _, v = np.linalg.eig(a)
    return _eig_back(g, None, v)


def _eig_back(w_g, middle, v):
    turned = mT(v)
    n = v.shape[-1]
    if w_g is not None:
        diagonal = np.where(eye(n, dtype=bool), _columns(w_g), 0)
        middle = diagonal if middle is None else diagonal + middle
    return np.linalg.solve(turned, middle @ turned)


# Singular values ----------------------------------------------------------------------------------


@defvjp(np.linalg.svd)
def svd_vjp(g, out, a, full_matrices=True, compute_uv=True):
    if not compute_uv:
        return svdvals_vjp(g, out, a)
    (u_g, s_g, vh_g), (u, s, vh) = g, out
    rows, columns = a.shape[-2:]
    k = min(rows, columns)
    if full_matrices and rows > columns:
        u, u_g = _thin(u, u_g, k)
    if full_matrices and rows < columns:
        v, v_g = _thin(mT(vh), None if vh_g is None else mT(vh_g), k)
        vh, vh_g = mT(v), None if v_g is None else mT(v_g)
    return conj(_svd_back(u_g, s_g, vh_g, u, s, vh))


def _thin(u, u_g, k):
    """Return the first k columns; the others turn against these, and not among themselves."""
    first, rest = u[..., :k], u[..., k:]
    if u_g is None:
        return first, None
    return first, u_g[..., :k] - conj(rest) @ (mT(u_g[..., k:]) @ conj(first))


@defvjp(np.linalg.svdvals)
def svdvals_vjp(g, out, x):
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return conj((u * _columns(g)) @ vh)


def _svd_back(u_g, s_g, vh_g, u, s, vh):
    """Wan and Zhang (2019), eq. 5 to 9."""
    total = None if s_g is None else (u * _columns(s_g)) @ vh
    squares, inverse = s * s, 1 / _or_inf(s)
    if u_g is not None:
        u_g = conj(u_g)
        inner = adjoint(u) @ u_g
        turning = _gaps(squares) * (inner - adjoint(inner)) * _columns(s)
        part = u @ turning @ vh + ((u_g - u @ inner) * _columns(inverse)) @ vh
        if u.dtype.kind == "c":
            part = part + (u * _columns(_phase(inner) * inverse)) @ vh
        total = part if total is None else total + part
    if vh_g is not None:
        v_g = mT(vh_g)
        inner = vh @ v_g
        turning = s[..., :, None] * (_gaps(squares) * (inner - adjoint(inner)))
        outside = adjoint(v_g - adjoint(vh) @ inner)
        part = u @ turning @ vh + (u * _columns(inverse)) @ outside
        total = part if total is None else total + part
    return total


def _phase(inner):
    return 1j * np.imag(np.diagonal(inner, axis1=-2, axis2=-1))
