"""The rule of np.einsum."""

from __future__ import annotations

import numpy as np

from ..cases import check, complex_normal, normal, row, table

V = normal(3)
A, B = normal(2, 3), normal(3, 4, seed=1)
S = normal(3, 3)
T = normal(2, 3, 3)
ZA, ZB = complex_normal(2, 3), complex_normal(3, 4, seed=3)


def einsum(text, *arrays, **options):
    return row(np.einsum, lambda *xs: np.einsum(text, *xs, **options) ** 2, *arrays)


ROWS = [
    einsum("ij,jk->ik", A, B),
    einsum("ij,jk", A, B),
    einsum("ba,ac", A.T.copy(), A),
    einsum("ij->ji", A),
    einsum("ji", A),
    einsum("i,i->", V, V),
    einsum("i,j->ij", V, normal(2)),
    einsum("ij,jk,kl->il", A, B, normal(4, 2)),
    einsum("ij,jk,kl->il", A, B, normal(4, 2), optimize=True),
    einsum("ij->", A),
    einsum("ij->i", A),
    einsum("ij,k->k", A, V),
    einsum("ij,jk->k", A, B),
    einsum("ii->i", S),
    einsum("ii", S),
    einsum("ii->", S),
    einsum("bii->b", T),
    einsum("bii->bi", T),
    einsum("iii->i", normal(3, 3, 3)),
    einsum("ii,ij->j", S, B),
    einsum("ij,ii->j", B, S),
    einsum("ii,jj->ij", S, normal(2, 2)),
    einsum("...i->...", T),
    einsum("...ij,jk->...ik", T, B),
    einsum("...ij,...jk", T, normal(3, 3)),
    einsum("i...,i...->...", A, A),
    einsum("...,...->...", T, normal(3, 1)),
    einsum("...ii->...", T),
    einsum("ij,ij->ij", A, normal(1, 3)),
    einsum("ij,ij->i", A, normal(2, 1)),
    einsum("ij,ij->", normal(2, 1), A),
    einsum(" ij , jk -> ik ", ZA, ZB),
    einsum("ij,jk->ik", A, ZB),
    einsum("ij,jk->ik", A.astype(np.float32), B.astype(np.float32)),
    einsum(",ij->ij", np.float64(1.5), A),
    einsum("nmk,kij,nj->mi", normal(2, 2, 3), normal(3, 2, 4), normal(2, 4)),
]


@table(ROWS)
def test_einsum(row):
    check(row)
