"""Gradients by decorator and by tape, the source that is generated, and a network trained on it.

The network is plain NumPy, its parameters a dict, its data the handwritten digits that come with
scikit-learn. The last line printed is the accuracy on digits that were not trained on; the exit
status is 1 if it is not above 90 %.
"""

import sys
import time
from itertools import pairwise

import numpy as np
from sklearn.datasets import load_digits

import srcgrad

EPOCHS, BATCH, RATE = 30, 64, 0.003


# 1. A gradient by decorator, and its source -------------------------------------------------------


@srcgrad.value_and_grad
def logistic_loss(w, X, y):
    logits = X @ w
    return np.mean(np.logaddexp(0.0, logits) - y * logits)


def show_decorator():
    X = np.array([[1.0, 0.5], [0.2, -1.0], [-1.5, 0.3]])
    y = np.array([1.0, 0.0, 0.0])
    value, gradient = logistic_loss(np.zeros(2), X, y)
    print(f"By decorator: the loss is {value:.4f}, its gradient {gradient}.\n")
    print("The program that was generated for it:\n")
    print(logistic_loss.source)


# 2. The same by tape ------------------------------------------------------------------------------


def show_tape():
    w = srcgrad.Variable([3.0, -2.0], name="w")
    for _ in range(50):
        with srcgrad.GradientTape() as tape:
            loss = np.sum((w - np.array([1.0, 2.0])) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
    print(f"By tape: after 50 steps of descent the minimum of (w - [1, 2])**2 is at {w.numpy()}.\n")


# 3. A network -------------------------------------------------------------------------------------


def new_network(rng, sizes=(64, 64, 10)):
    layers = {}
    for i, (n, m) in enumerate(pairwise(sizes), 1):
        layers[f"w{i}"] = rng.normal(size=(n, m)) * np.sqrt(2.0 / n)
        layers[f"b{i}"] = np.zeros(m)
    return layers


def scores(params, X):
    hidden = np.maximum(X @ params["w1"] + params["b1"], 0.0)
    return hidden @ params["w2"] + params["b2"]


def cross_entropy(params, X, labels):
    z = scores(params, X)
    z = z - np.max(z, axis=1, keepdims=True)
    log_norm = np.log(np.sum(np.exp(z), axis=1))
    return np.mean(log_norm - z[np.arange(len(labels)), labels])


class Adam:
    """The usual steps: each parameter's gradient, smoothed, over its smoothed size."""

    def __init__(self, params, rate):
        self.rate, self.steps = rate, 0
        self.mean = {k: np.zeros_like(p) for k, p in params.items()}
        self.square = {k: np.zeros_like(p) for k, p in params.items()}

    def step(self, params, gradient):
        self.steps += 1
        for key, g in gradient.items():
            self.mean[key] += 0.1 * (g - self.mean[key])
            self.square[key] += 0.001 * (g * g - self.square[key])
            mean = self.mean[key] / (1.0 - 0.9**self.steps)
            square = self.square[key] / (1.0 - 0.999**self.steps)
            params[key] -= self.rate * mean / (np.sqrt(square) + 1e-8)


def accuracy(params, X, labels):
    return np.mean(np.argmax(scores(params, X), axis=1) == labels)


def digits(rng):
    """Return (X, labels) to train on, and 360 others."""
    X, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(X))
    X, labels = X[order] / 16.0, labels[order]
    return (X[360:], labels[360:]), (X[:360], labels[:360])


def progress(epoch, loss, start):
    """Draw the bar of a terminal; elsewhere, a line for every tenth epoch."""
    done = round(30 * epoch / EPOCHS)
    bar = "#" * done + "." * (30 - done)
    text = f"epoch {epoch:2d}/{EPOCHS} [{bar}] loss {loss:.4f}, {time.perf_counter() - start:.1f} s"
    if sys.stdout.isatty():
        print(f"\r{text}", end="\n" if epoch == EPOCHS else "", flush=True)
    elif epoch % 10 == 0:
        print(text, flush=True)


def train(rng, X, labels):
    params = new_network(rng)
    loss_and_gradient = srcgrad.value_and_grad(cross_entropy)
    optimizer, start = Adam(params, RATE), time.perf_counter()
    for epoch in range(1, EPOCHS + 1):
        losses = []
        for batch in np.array_split(rng.permutation(len(X)), len(X) // BATCH):
            loss, gradient = loss_and_gradient(params, X[batch], labels[batch])
            optimizer.step(params, gradient)
            losses.append(loss)
        progress(epoch, np.mean(losses), start)
    return params


def main():
    show_decorator()
    show_tape()
    rng = np.random.default_rng(0)
    (X, labels), held_out = digits(rng)
    print(f"A network of two layers on {len(X)} handwritten digits:")
    found = accuracy(train(rng, X, labels), *held_out)
    print(f"accuracy on {len(held_out[0])} digits that were held out: {100 * found:.1f} %")
    return 0 if found > 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
