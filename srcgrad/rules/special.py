"""Functions of scipy.special that derivatives of NumPy's and Python's own functions lead to.

SciPy is imported when the first of them is needed; its rules are stated then.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .table import partials


@cache
def special() -> Any:
    """Return scipy.special, with rules for what is used of it.

    The derivative of digamma is the Hurwitz zeta(2, x), that of zeta(s, x) is -s zeta(s + 1, x)
    (DLMF 5.15.1 and 25.11.17); I0' = I1, and I1' = I0 - I1 / x, 1/2 at 0 (DLMF 10.29).
    """
    from scipy import special

    zeta = hurwitz_zeta()
    partials(
        {
            special.digamma: lambda out, x: zeta(2.0, x),
            zeta: lambda out, s, x: (None, -s * zeta(s + 1.0, x)),
            special.i0: lambda out, x: special.i1(x),
            special.i1: lambda out, x: special.i0(x) - np.where(x == 0, 0.5, out / nonzero(x)),
        }
    )
    return special


def hurwitz_zeta() -> Any:
    """Return the ufunc that scipy.special.zeta calls; only a ufunc reports to a recorder."""
    from scipy.special import _ufuncs

    return _ufuncs._zeta


def nonzero(x: Any) -> Any:
    return np.where(x == 0, 1.0, x)
