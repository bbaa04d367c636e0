"""Logistic regression by gradient descent, with a weight and a bias as two arguments."""

import numpy as np

import srcgrad


@srcgrad.value_and_grad(argnums=("w", "b"))
def loss(w, b, X, y, l2):
    logits = X @ w + b
    nll = np.mean(np.logaddexp(0.0, logits) - y * logits)
    if l2 > 0.0:
        nll = nll + l2 * np.sum(w * w)
    return nll


def make_data(rng, n=400):
    X = rng.normal(size=(n, 3))
    chance = 1.0 / (1.0 + np.exp(-(X @ np.array([2.0, -1.0, 0.5]) + 0.7)))
    return X, (rng.random(n) < chance).astype(float)


def main():
    X, y = make_data(np.random.default_rng(1))
    w, b = np.zeros(3), 0.0
    for step in range(301):
        value, (w_bar, b_bar) = loss(w, b, X, y, l2=1e-3)
        if step % 100 == 0:
            print(f"step {step:3d}: loss {value:.4f}")
        w, b = w - 1.0 * w_bar, b - 1.0 * b_bar
    print(f"w = {np.round(w, 2)}, b = {b:.2f}; the data was made with [2, -1, 0.5] and 0.7\n")
    print(loss.source)
    assert np.max(np.abs(w - [2.0, -1.0, 0.5])) < 0.5


if __name__ == "__main__":
    main()
