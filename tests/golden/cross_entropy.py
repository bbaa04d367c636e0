# srcgrad: value_and_grad of tests.programs.cross_entropy (programs.py:115)
#   w        float64[4, 3]   differentiated
#   x        float64[5, 4]   argument
#   labels   int64[5]        argument
import numpy as np


def cross_entropy_value_and_grad(w, x, labels):
    logits = x @ w                                           # programs.py:116
    max_logits = np.max(logits, axis=1, keepdims=True)       # programs.py:117
    shifted = logits - max_logits
    exp_shifted = np.exp(shifted)                            # programs.py:118
    sum_1 = np.sum(exp_shifted, axis=1)
    arange = np.arange(5)                                    # programs.py:119
    mean = np.mean(np.log(sum_1) - shifted[arange, labels])

    # Backward: t_bar is the derivative of mean with respect to t.
    divide = np.float64(1.0) / 5                             # programs.py:119
    logits_bar = np.zeros((5, 3))
    np.add.at(logits_bar, (arange, labels), np.broadcast_to(-divide, (5,)))
    logits_bar += np.expand_dims(divide / sum_1, 1) * exp_shifted  # programs.py:118
    equal = logits == max_logits                             # programs.py:117
    sum_2 = np.sum(equal, axis=1, keepdims=True)
    divide_1 = np.sum(-logits_bar, axis=1, keepdims=True) / sum_2
    logits_bar += np.where(equal, divide_1, 0)
    return mean, x.T @ logits_bar


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(x, labels, logits, max_1, exp, sum_1, arange):
    divide = np.float64(1.0) / 5                             # programs.py:119
    logits_bar = np.zeros((5, 3))
    np.add.at(logits_bar, (arange, labels), np.broadcast_to(-divide, (5,)))
    logits_bar += np.expand_dims(divide / sum_1, 1) * exp    # programs.py:118
    equal = logits == max_1                                  # programs.py:117
    max_1_bar = np.sum(-logits_bar, axis=1, keepdims=True)
    divide_1 = max_1_bar / np.sum(equal, axis=1, keepdims=True)
    logits_bar += np.where(equal, divide_1, 0)
    return x.T @ logits_bar
