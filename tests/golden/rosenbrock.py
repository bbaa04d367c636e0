# srcgrad: value_and_grad of tests.programs.rosenbrock (programs.py:97)
#   x   float64[6]   differentiated
import numpy as np


def rosenbrock_value_and_grad(x):
    part_x = x[:-1]                                          # programs.py:98
    subtract = x[1:] - part_x ** 2
    subtract_1 = 1.0 - part_x
    sum_1 = np.sum(100.0 * subtract ** 2 + subtract_1 ** 2)

    # Backward: t_bar is the derivative of sum_1 with respect to t.
    x_bar = np.zeros(6)                                      # programs.py:98
    x_bar[:-1] = -2 * subtract_1
    part_x_bar = 200.0 * subtract
    x_bar[:-1] -= part_x_bar * (2 * part_x)
    x_bar[1:] += part_x_bar
    return sum_1, x_bar


# srcgrad: the backward half, of the values that the forward run kept
import numpy as np


def adjoint(part, subtract, subtract_1):
    x_bar = np.zeros(6)                                      # programs.py:98
    x_bar[:-1] = -2 * subtract_1
    part_bar = 200.0 * subtract
    x_bar[:-1] -= part_bar * (2 * part)
    x_bar[1:] += part_bar
    return x_bar
