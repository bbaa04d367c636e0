"""Rules of the functions of scipy.special that other derivatives lead to."""

from __future__ import annotations

import numpy as np
import scipy.special as sp

import srcgrad
from srcgrad.rules.special import hurwitz_zeta, special

from ..cases import check, row, table

special()
P = np.array([0.4, 1.5, 3.2])
ROWS = [
    row(sp.digamma, lambda x: sp.digamma(x), P),
    row(sp.digamma, lambda x: sp.digamma(x), 2.5),
    row(hurwitz_zeta(), lambda x: hurwitz_zeta()(2.0, x), P),
    row(hurwitz_zeta(), lambda x: hurwitz_zeta()(3.0, x) ** 2, 1.2),
    row(sp.i0, lambda x: sp.i0(x), P),
    row(sp.i0, lambda x: sp.i0(-x), 0.7),
    row(sp.i1, lambda x: sp.i1(x), P),
    row(sp.i1, lambda x: sp.i1(x) * x, -0.7),
]


@table(ROWS)
def test_special(row):
    check(row)


def test_the_slope_of_i1_at_zero():
    assert srcgrad.grad(lambda x: sp.i1(x))(0.0) == 0.5
