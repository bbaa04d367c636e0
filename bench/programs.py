"""The programs that are timed, as people write them.

`run.py` loads this file once per library and puts that library's NumPy in the place of `np`.
"""

import numpy as np


def ten_ufuncs(x):
    a = np.sin(x)
    b = np.exp(a)
    c = np.tanh(b)
    d = c * x
    e = np.log(np.sqrt(d * d + 1.0)) / b
    return np.sum(np.cos(e))


def four_operations(x):
    return np.sum(np.sin(x) * np.exp(x))


def small_mlp(params, X, y):
    hidden = np.tanh(X @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    return np.mean(error * error)


def mlp(params, X, y):
    h1 = np.maximum(X @ params["w1"] + params["b1"], 0.0)
    h2 = np.maximum(h1 @ params["w2"] + params["b2"], 0.0)
    logits = h2 @ params["w3"] + params["b3"]
    z = logits - np.max(logits, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(z), axis=1))
    return np.mean(log_norm - z[np.arange(len(y)), y])


def logistic_regression(w, b, X, y, l2):
    logits = X @ w + b
    nll = np.mean(np.logaddexp(0.0, logits) - y * logits)
    return nll + l2 * np.sum(w * w)


def rosenbrock(x):
    head, tail = x[:-1], x[1:]
    return np.sum(100.0 * (tail - head**2) ** 2 + (1.0 - head) ** 2)


def chain(x):
    y = np.exp(-np.sin(x) * x)
    z = np.sqrt(1.0 + y * y)
    return np.sum(np.log(z) * np.cos(x))


def loop(x):
    y = x
    for _ in range(10):
        y = y + 0.1 * np.sin(y) * x
    return np.sum(y * y)
