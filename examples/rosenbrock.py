"""The Rosenbrock function in 50 dimensions, minimized by SciPy with an exact gradient."""

import numpy as np
from scipy.optimize import minimize

import srcgrad


def rosenbrock(x):
    head, tail = x[:-1], x[1:]
    return np.sum(100.0 * (tail - head**2) ** 2 + (1.0 - head) ** 2)


def main():
    start = np.zeros(50)
    exact = minimize(srcgrad.value_and_grad(rosenbrock), start, jac=True, method="L-BFGS-B")
    numerical = minimize(rosenbrock, start, method="L-BFGS-B")
    for name, found in (("exact", exact), ("numerical", numerical)):
        error = np.max(np.abs(found.x - 1.0))
        print(f"{name:>9} gradient: {found.nfev:5d} evaluations, off by {error:.1e}")
    assert exact.success and np.max(np.abs(exact.x - 1.0)) < 1e-3


if __name__ == "__main__":
    main()
