"""The same programs with gradients written and tuned by hand: the measure of all ratios.

Each gives (value, gradient). What both halves use is computed once, cancellations are done on
paper, sums are products where that is faster, and temporaries are written over where arrays are
large. `run.py` holds every one against srcgrad's result before it times it.
"""

import numpy as np

add = np.add.reduce  # np.sum of a small array takes three times as long


def ten_ufuncs(x):
    b = np.exp(np.sin(x))
    c = np.tanh(b)
    d = c * x
    s = d * d + 1.0
    e = 0.5 * np.log(s) / b
    t = np.sin(e) / b
    d_bar = -t * d / s
    b_bar = t * e + d_bar * x * (1.0 - c * c)
    return add(np.cos(e)), d_bar * c + b_bar * b * np.cos(x)


def four_operations(x):
    s, e = np.sin(x), np.exp(x)
    return s @ e, e * (s + np.cos(x))


def small_mlp(params, X, y):
    hidden = np.tanh(X @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    n = len(error)
    error_bar = (2.0 / n) * error
    a_bar = np.outer(error_bar, params["w2"]) * (1.0 - hidden * hidden)
    gradient = {
        "w1": X.T @ a_bar,
        "b1": add(a_bar),
        "w2": error_bar @ hidden,
        "b2": add(error_bar),
    }
    return error @ error / n, gradient


def mlp(params, X, y):
    h1 = X @ params["w1"]
    h1 += params["b1"]
    np.maximum(h1, 0.0, out=h1)
    h2 = h1 @ params["w2"]
    h2 += params["b2"]
    np.maximum(h2, 0.0, out=h2)
    z = h2 @ params["w3"]
    z += params["b3"]
    z -= np.maximum.reduce(z, axis=1, keepdims=True)
    n = len(y)
    rows = np.arange(n)
    p = np.exp(z)
    norm = add(p, axis=1)
    value = (add(np.log(norm)) - add(z[rows, y])) / n
    p /= norm[:, None]
    p[rows, y] -= 1.0
    p /= n
    h2_bar = p @ params["w3"].T
    h2_bar *= h2 > 0.0
    h1_bar = h2_bar @ params["w2"].T
    h1_bar *= h1 > 0.0
    gradient = {
        "w1": X.T @ h1_bar,
        "b1": add(h1_bar),
        "w2": h1.T @ h2_bar,
        "b2": add(h2_bar),
        "w3": h2.T @ p,
        "b3": add(p),
    }
    return value, gradient


def logistic_regression(w, b, X, y, l2):
    logits = X @ w + b
    log1p = np.logaddexp(0.0, logits)
    n = len(y)
    r = (np.exp(logits - log1p) - y) / n
    value = (add(log1p) - y @ logits) / n + l2 * (w @ w)
    return value, (r @ X + 2.0 * l2 * w, add(r))


def rosenbrock(x):
    head = x[:-1]
    a = x[1:] - head * head
    b = 1.0 - head
    gradient = np.zeros(len(x))
    gradient[1:] = 200.0 * a
    gradient[:-1] -= 400.0 * (a * head) + 2.0 * b
    return 100.0 * (a @ a) + b @ b, gradient


def chain(x):
    s, c = np.sin(x), np.cos(x)
    y = s * x
    np.negative(y, out=y)
    np.exp(y, out=y)
    y *= y
    z2 = y + 1.0
    log_z = np.log(z2)
    log_z *= 0.5
    value = log_z @ c
    # d log(z) / dx = -(c x + s) y**2 / (1 + y**2)
    y /= z2
    y *= c
    np.multiply(c, x, out=c)
    c += s
    y *= c
    log_z *= s
    y += log_z
    return value, np.negative(y, out=y)


def loop(x):
    y, passes = x, []
    for _ in range(10):
        s = np.sin(y)
        passes.append((y, s))
        y = y + (0.1 * x) * s
    y_bar = 2.0 * y
    x_bar = 0.0
    for y_in, s in reversed(passes):
        t = 0.1 * y_bar
        x_bar = x_bar + t * s
        y_bar = y_bar + t * x * np.cos(y_in)
    return y @ y, x_bar + y_bar
