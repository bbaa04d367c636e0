# srcgrad: value_and_grad of tests.programs.network (programs.py:74)
#   b1   float64[3]      differentiated
#   b2   float64[2]      differentiated
#   w1   float64[4, 3]   differentiated
#   w2   float64[3, 2]   differentiated
#   x    float64[5, 4]   argument
#   y    float64[5, 2]   argument
import numpy as np


def network_value_and_grad(b1, b2, w1, w2, x, y):
    hidden = np.tanh(x @ w1 + b1)                            # programs.py:75
    subtract = hidden @ w2 + b2 - y                          # programs.py:77
    mean = np.mean(subtract ** 2)

    # Backward: t_bar is the derivative of mean with respect to t.
    matmul_bar = 2 * subtract / 10                           # programs.py:77
    matmul_bar_1 = matmul_bar @ w2.T * (1 - hidden * hidden)  # programs.py:75
    b1_bar = np.sum(matmul_bar_1, axis=0)
    b2_bar = np.sum(matmul_bar, axis=0)                      # programs.py:76
    return mean, (b1_bar, b2_bar, x.T @ matmul_bar_1, hidden.T @ matmul_bar)


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(w2, x, hidden, subtract):
    matmul_bar = 2 * subtract / 10                           # programs.py:77
    matmul_bar_1 = matmul_bar @ w2.T * (1 - hidden * hidden)  # programs.py:75
    b1_bar = np.sum(matmul_bar_1, axis=0)
    b2_bar = np.sum(matmul_bar, axis=0)                      # programs.py:76
    return b1_bar, b2_bar, x.T @ matmul_bar_1, hidden.T @ matmul_bar
