"""The rule of np.einsum.

The cotangent of an operand is the einsum of `g` and the other operands, with the letters of `g`
and of the operand exchanged. Two things an einsum cannot do by itself: spread a value along a
letter that was summed out of this operand alone, and put values on a diagonal, which is what a
letter that stands twice in one operand reads.
"""

from __future__ import annotations

import string

import numpy as np

from ..runtime import arange, set_at, zeros
from .shapes import unsupported
from .table import defvjp, multilinear

multilinear(np.einsum)


@defvjp(np.einsum)
def einsum_vjp(g, out, *operands, optimize=False):
    text, arrays = operands[0], operands[1:]
    if type(text) is not str:
        raise unsupported(
            "np.einsum with lists of axis numbers", "Write the subscripts as text: 'ij,jk->ik'."
        )
    inputs, output = explicit(text, [a.ndim for a in arrays])
    options = {"optimize": optimize} if optimize is not False else {}
    parts = []
    for i, a in enumerate(arrays):
        others = [(inputs[j], arrays[j]) for j in range(len(arrays)) if j != i]
        parts.append(_operand_bar([(output, g), *others], inputs[i], a, options))
    return (None, *parts)


def explicit(text, ranks):
    """Return the letters of each operand and of the output, without ellipses.

    Examples
    --------
    >>> explicit("...ij,jk", [3, 2])
    (['Aij', 'jk'], 'Aik')
    """
    text = text.replace(" ", "").replace("...", ".")
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    free = [c for c in string.ascii_uppercase + string.ascii_lowercase if c not in text]
    depth = max((n - len(s) + 1 for s, n in zip(inputs, ranks, strict=True) if "." in s), default=0)
    batch = "".join(free[:depth])
    if not arrow:
        once = sorted(c for c in set(left) - {",", "."} if left.count(c) == 1)
        output = "." * ("." in left) + "".join(once)
    full = [
        s.replace(".", batch[depth - (n - len(s) + 1) :])
        for s, n in zip(inputs, ranks, strict=True)
    ]
    return full, output.replace(".", batch)


def _operand_bar(factors, letters, a, options):
    """Return the cotangent of the operand `a`, which has `letters`, from the other factors."""
    wanted = "".join(dict.fromkeys(letters))
    found = [c for c in wanted if any(c in own for own, _ in factors)]
    if len(factors) == 1 and factors[0][0] == "".join(found):
        part = factors[0][1]
    else:
        text = ",".join(own for own, _ in factors) + "->" + "".join(found)
        part = np.einsum(text, *(x for _, x in factors), **options)
    if len(found) < len(wanted) and found:
        part = part[tuple(slice(None) if c in found else None for c in wanted)]
    if len(wanted) == len(letters):
        return part
    return _on_diagonal(part, wanted, letters, a)


def _on_diagonal(part, wanted, letters, a):
    """Put `part`, which has each letter once, where `letters` agree."""
    n = len(wanted)
    sizes = [a.shape[letters.index(c)] for c in wanted]
    spread = tuple(k for k in range(part.ndim) if sizes[k] == 1 and part.shape[k] != 1)
    if spread:
        part = np.sum(part, axis=spread, keepdims=True)
    places = {
        c: np.reshape(arange(size), (-1,) + (1,) * (n - 1 - k))
        for k, (c, size) in enumerate(zip(wanted, sizes, strict=True))
    }
    return set_at(zeros(a.shape, a.dtype), tuple(places[c] for c in letters), part)
