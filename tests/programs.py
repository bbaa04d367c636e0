"""Programs whose generated source is kept in tests/golden, each beside a gradient by hand.

The gradient by hand is what a careful person writes in NumPy; the generated one may have at most
twice its lines.
"""

from __future__ import annotations

import numpy as np

from .cases import normal, uniform

# A branch -----------------------------------------------------------------------------------------


def with_if(x):
    if x <= 0:
        return x * 2
    else:
        return x * x * x


def with_if_by_hand(x):
    if x <= 0:
        return x * 2, 2.0
    square = x * x
    return square * x, 3 * square


# Logistic regression ------------------------------------------------------------------------------


def logistic(w, b, X, y, l2):
    logits = X @ w + b
    nll = np.mean(np.logaddexp(0.0, logits) - y * logits)
    return nll + l2 * np.sum(w * w)


def logistic_by_hand(w, b, X, y, l2):
    logits = X @ w + b
    softplus = np.logaddexp(0.0, logits)
    value = np.mean(softplus - y * logits) + l2 * np.sum(w * w)
    logits_bar = (np.exp(logits - softplus) - y) / len(y)
    w_bar = logits_bar @ X + 2 * l2 * w
    return value, (w_bar, np.sum(logits_bar))


# Three steps of a loop ----------------------------------------------------------------------------


def three_steps(x, a):
    for _ in range(3):
        x = x - 0.1 * np.sin(a * x)
    return np.sum(x)


def three_steps_by_hand(x, a):
    kept = []
    for _ in range(3):
        kept.append(x)
        x = x - 0.1 * np.sin(a * x)
    x_bar = np.ones_like(x)
    a_bar = 0.0
    for before in reversed(kept):
        t = -0.1 * np.cos(a * before) * x_bar
        a_bar += np.sum(t * before)
        x_bar = x_bar + a * t
    return np.sum(x), (x_bar, a_bar)


# A network ----------------------------------------------------------------------------------------


def network(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    out = hidden @ params["w2"] + params["b2"]
    return np.mean((out - y) ** 2)


def network_by_hand(params, x, y):
    hidden = np.tanh(x @ params["w1"] + params["b1"])
    error = hidden @ params["w2"] + params["b2"] - y
    out_bar = 2 * error / error.size
    hidden_bar = out_bar @ params["w2"].T * (1 - hidden * hidden)
    gradient = {
        "b1": hidden_bar.sum(axis=0),
        "b2": out_bar.sum(axis=0),
        "w1": x.T @ hidden_bar,
        "w2": hidden.T @ out_bar,
    }
    return np.mean(error**2), gradient


# Slices -------------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_by_hand(x):
    head = x[:-1]
    gap = x[1:] - head * head
    rest = 1.0 - head
    value = np.sum(100.0 * gap * gap + rest * rest)
    x_bar = np.zeros_like(x)
    x_bar[1:] = 200.0 * gap
    x_bar[:-1] -= 400.0 * gap * head + 2.0 * rest
    return value, x_bar


# Fancy indexing -----------------------------------------------------------------------------------


def cross_entropy(w, x, labels):
    logits = x @ w
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_total = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_total - shifted[np.arange(len(labels)), labels])


def cross_entropy_by_hand(w, x, labels):
    rows = np.arange(len(labels))
    logits = x @ w
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    e = np.exp(shifted)
    total = np.sum(e, axis=1, keepdims=True)
    value = np.mean(np.log(total[:, 0]) - shifted[rows, labels])
    logits_bar = e / total
    logits_bar[rows, labels] -= 1.0
    return value, x.T @ logits_bar / len(labels)


# A scalar function --------------------------------------------------------------------------------


def damped(t, omega):
    return np.exp(-t) * np.cos(omega * t)


def damped_by_hand(t, omega):
    decay = np.exp(-t)
    phase = omega * t
    c, s = np.cos(phase), np.sin(phase)
    return decay * c, -decay * (c + omega * s)


LABELS = np.array([0, 2, 1, 2, 0])
PARAMS = {
    "w1": normal(4, 3),
    "b1": normal(3),
    "w2": normal(3, 2, seed=1),
    "b2": normal(2),
}
X = normal(50, 3)
Y = (uniform(0, 1, 50) > 0.5).astype(float)
W = normal(3)

# name: (program, gradient by hand, argnums, arguments)
PROGRAMS = {
    "with_if": (with_if, with_if_by_hand, 0, (3.0,)),
    "logistic": (logistic, logistic_by_hand, (0, 1), (W, 0.3, X, Y, 0.1)),
    "three_steps": (three_steps, three_steps_by_hand, (0, 1), (normal(4), 1.5)),
    "network": (network, network_by_hand, 0, (PARAMS, normal(5, 4), normal(5, 2))),
    "rosenbrock": (rosenbrock, rosenbrock_by_hand, 0, (normal(6),)),
    "cross_entropy": (
        cross_entropy,
        cross_entropy_by_hand,
        0,
        (normal(4, 3), normal(5, 4), LABELS),
    ),
    "damped": (damped, damped_by_hand, 0, (0.7, 2.0)),
}
