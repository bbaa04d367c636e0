# srcgrad: value_and_grad of tests.programs.logistic (programs.py:33)
#   w    float64[3]       differentiated
#   b    float            differentiated
#   X    float64[50, 3]   argument
#   y    float64[50]      argument
#   l2   float            argument
import numpy as np


def logistic_value_and_grad(w, b, X, y, l2):
    logits = X @ w + b                                       # programs.py:34
    logaddexp_logits = np.logaddexp(0.0, logits)             # programs.py:35
    add = np.mean(logaddexp_logits - y * logits) + l2 * np.sum(w * w)  # programs.py:36

    # Backward: t_bar is the derivative of add with respect to t.
    w_bar = 2.0 * (l2 * w)                                   # programs.py:36
    matmul_bar = (np.exp(logits - logaddexp_logits) - y) / 50  # programs.py:35
    w_bar += matmul_bar @ X                                  # programs.py:34
    return add, (w_bar, np.sum(matmul_bar))


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(w, X, y, l2, logits, logaddexp):
    w_bar = 2.0 * (l2 * w)                                   # programs.py:36
    matmul_bar = (np.exp(logits - logaddexp) - y) / 50       # programs.py:35
    w_bar += matmul_bar @ X                                  # programs.py:34
    return w_bar, np.sum(matmul_bar)
