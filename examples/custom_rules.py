"""Rules of one's own: for a function that cannot be traced, and for one that should not be."""

import numpy as np

import srcgrad

# A primitive is one step. Here Newton's method finds the root y of y**3 + y = x; the rule is the
# implicit function theorem, so the iteration itself is never differentiated.


@srcgrad.primitive
def cubic_root(x):
    y = np.zeros_like(x)
    for _ in range(50):
        y = y - (y**3 + y - x) / (3.0 * y**2 + 1.0)
    return y


@srcgrad.defvjp(cubic_root)
def cubic_root_vjp(g, out, x):
    return g / (3.0 * out**2 + 1.0)


# custom_vjp replaces a derivative: this step function learns as if it were the identity.


@srcgrad.custom_vjp
def sign_through(x):
    return np.sign(x)


sign_through.defvjp(lambda x: (np.sign(x), None), lambda _, g: (g,))


# custom_gradient gives the value together with the way back.


@srcgrad.custom_gradient
def log1pexp(x):
    e = np.exp(x)
    return np.log(1.0 + e), lambda g: g * (1.0 - 1.0 / (1.0 + e))


# grad_hook edits a cotangent on its way back.


def clipped_square(x):
    x = srcgrad.grad_hook(x, lambda g: np.clip(g, -1.0, 1.0))
    return np.sum(x**2)


def main():
    x = np.array([2.0, 10.0, -1.0])
    root = srcgrad.grad(lambda x: np.sum(cubic_root(x)))
    print("d cubic_root:", root(x))
    print(root.source)
    print("d sign_through:", srcgrad.grad(lambda x: np.sum(x * sign_through(x)))(x))
    print("d log1pexp(100):", srcgrad.grad(log1pexp)(100.0))
    print("d clipped_square:", srcgrad.grad(clipped_square)(x))
    assert np.allclose(root(x), 1.0 / (3.0 * cubic_root(x) ** 2 + 1.0))


if __name__ == "__main__":
    main()
